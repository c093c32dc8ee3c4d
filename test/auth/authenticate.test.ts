import { scryptSync } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';

import { Authenticator, type Authenticated } from '../../src/auth/authenticate.ts';
import { Passwords } from '../../src/auth/password.ts';
import { Secrets } from '../../src/auth/secrets.ts';
import { basicCacheEntriesMax, basicCacheMs, loginFailuresMax, loginFailureWindowMs } from '../../src/limits.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { MemoryLog } from '../support/memory-log.ts';

const cheapHash = (password: string): string => `$scrypt$ln=1,r=1,p=1$${'A'.repeat(22)}$${scryptSync(password, Buffer.alloc(16), 32, { N: 2, r: 1, p: 1 }).toString('base64').replaceAll('=', '')}`;

/** Counts how often a password was hashed. */
class CountingPasswords extends Passwords {
  verified = 0;

  override verify(password: string, stored: string | undefined): Promise<boolean> {
    this.verified += 1;
    return super.verify(password, stored ?? cheapHash('no password at all'));
  }
}

async function given() {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const secrets = new Secrets(log, clock);
  for (const [name, password] of [['admin', 'right'], ['jane', 'doe:with:colons'], ['josé', '']] as const) {
    if (/^[\x21-\x7e]+$/u.test(name)) await secrets.setFirstPassword(name, cheapHash(password));
  }
  const passwords = new CountingPasswords();
  const authenticator = new Authenticator({ secrets, passwords, clock });
  return {
    clock, log, passwords, authenticator,
    logIn: async (name: string, password: string, address = '1.2.3.4'): Promise<Authenticated> => authenticator.authenticate(basic(name, password), address),
  };
}

function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

t.test('no header is a visitor, a right pair its user, and everything else unauthorized', async (t) => {
  const { authenticator, logIn } = await given();
  t.strictSame(authenticator.authenticate(undefined, ''), { ok: true, subject: { kind: 'visitor' } });
  t.strictSame(await logIn('admin', 'right'), { ok: true, subject: { kind: 'user', name: 'admin', credential: { kind: 'password', uid: '' } } });
  t.strictSame(await logIn('jane', 'doe:with:colons'), { ok: true, subject: { kind: 'user', name: 'jane', credential: { kind: 'password', uid: '' } } });
  const headers = [
    '', 'Basic', 'Basic ', 'basic', 'Bearer abc', 'Basic !!!', basic('', 'x'), `Basic ${Buffer.from('admin').toString('base64')}`,
    basic('admin', 'right\n'), basic('ad\0min', 'right'), `${basic('admin', 'right')},`, `${basic('admin', 'right')} x`, 'Digest username="admin"',
  ];
  for (const header of headers) t.match(await authenticator.authenticate(header, '9.9.9.9'), { ok: false, reason: 'unauthorized' }, header);
});

t.test('an unknown user and a wrong password look the same and are checked the same', async (t) => {
  const { passwords, logIn } = await given();
  t.strictSame(await logIn('admin', 'wrong'), await logIn('nobody', 'wrong'));
  t.equal(passwords.verified, 2);
  t.match(await logIn('constructor/../x', 'wrong'), { ok: false, reason: 'unauthorized' });
  t.match(await logIn('a'.repeat(10_000), 'wrong'), { ok: false, reason: 'unauthorized' });
});

t.test('no header makes it throw', async (t) => {
  const { authenticator, clock } = await given();
  await fc.assert(fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }).map((text) => `Basic ${Buffer.from(text).toString('base64')}`)), async (header) => {
    clock.advance(loginFailureWindowMs);
    const answer = await authenticator.authenticate(header, 'somewhere');
    return !answer.ok && answer.reason === 'unauthorized';
  }), { numRuns: 200 });
  t.pass();
});

t.test('a verified pair is remembered for its time, answered at once, and forgotten with its user', async (t) => {
  const { clock, passwords, authenticator, logIn } = await given();
  await logIn('admin', 'right');
  t.notOk(authenticator.authenticate(basic('admin', 'right'), '') instanceof Promise);
  clock.advance(basicCacheMs - 1);
  await logIn('admin', 'right');
  t.equal(passwords.verified, 1);
  clock.advance(1);
  await logIn('admin', 'right');
  t.equal(passwords.verified, 2);
  authenticator.forget('jane');
  await logIn('admin', 'right');
  t.equal(passwords.verified, 2);
  authenticator.forget('admin');
  await logIn('admin', 'right');
  t.equal(passwords.verified, 3);
});

t.test('what is being verified while its user is forgotten is not remembered', async (t) => {
  const { passwords, authenticator, logIn } = await given();
  const pending = logIn('admin', 'right');
  authenticator.forget('admin');
  t.match(await pending, { ok: true });
  await logIn('admin', 'right');
  t.equal(passwords.verified, 2);
});

t.test('many requests with one pair are one log-in', async (t) => {
  const { passwords, logIn } = await given();
  const answers = await Promise.all(Array.from({ length: 100 }, () => logIn('admin', 'right')));
  t.ok(answers.every(({ ok }) => ok));
  t.equal(passwords.verified, 1);
});

t.test('failures are counted by user and by address up to the bound, and forgiven with time', async (t) => {
  const { clock, logIn } = await given();
  for (let attempt = 0; attempt < loginFailuresMax; attempt += 1) t.match(await logIn('admin', `wrong ${String(attempt)}`, `10.0.0.${String(attempt)}`), { reason: 'unauthorized' });
  clock.advance(1_500);
  t.strictSame(await logIn('admin', 'right', '10.1.1.1'), { ok: false, reason: 'too-many-requests', detail: 'too many failed log-ins', retryAfterSeconds: loginFailureWindowMs / 1_000 - 1 });
  t.match(await logIn('jane', 'doe:with:colons', '10.1.1.1'), { ok: true }, 'another user from another address');
  for (let attempt = 0; attempt < loginFailuresMax; attempt += 1) t.match(await logIn(`user${String(attempt)}`, 'wrong', '10.2.2.2'), { reason: 'unauthorized' });
  t.match(await logIn('someone', 'wrong', '10.2.2.2'), { reason: 'too-many-requests' }, 'another user from that address');
  clock.advance(loginFailureWindowMs);
  t.match(await logIn('admin', 'right', '10.2.2.2'), { ok: true });
});

t.test('attempts at once do not slip past the bound together', async (t) => {
  const { logIn } = await given();
  const answers = await Promise.all(Array.from({ length: loginFailuresMax * 2 }, (_, attempt) => logIn('admin', `wrong ${String(attempt)}`)));
  t.equal(answers.filter((answer) => !answer.ok && answer.reason === 'unauthorized').length, loginFailuresMax);
});

t.test('successes are not failures, however many there are', async (t) => {
  const { clock, passwords, logIn } = await given();
  for (let attempt = 0; attempt < loginFailuresMax * 2; attempt += 1) {
    t.match(await logIn('admin', 'right'), { ok: true });
    clock.advance(basicCacheMs);
  }
  t.equal(passwords.verified, loginFailuresMax * 2);
});

t.test('a remembered pair works on while its user is being attacked', async (t) => {
  const { logIn } = await given();
  await logIn('admin', 'right');
  for (let attempt = 0; attempt <= loginFailuresMax; attempt += 1) await logIn('admin', `wrong ${String(attempt)}`);
  t.match(await logIn('admin', 'right'), { ok: true });
});

t.test('a log that cannot be reached is no wrong password', async (t) => {
  const { log, logIn } = await given();
  await log.close();
  t.match(await logIn('admin', 'right'), { ok: false, reason: 'unavailable', retryAfterSeconds: 1 });
});

t.test('remembered pairs are bounded, and the longest remembered go first', async (t) => {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const secrets = new Secrets(log, clock);
  const passwords = new CountingPasswords();
  const authenticator = new Authenticator({ secrets, passwords, clock });
  const hash = cheapHash('x');
  for (let user = 0; user <= basicCacheEntriesMax; user += 1) await secrets.setFirstPassword(`u${String(user)}`, hash);
  for (let user = 0; user <= basicCacheEntriesMax; user += 1) await authenticator.authenticate(basic(`u${String(user)}`, 'x'), String(user));
  t.notOk(authenticator.authenticate(basic('u1', 'x'), '') instanceof Promise);
  t.ok(authenticator.authenticate(basic('u0', 'x'), '') instanceof Promise);
});
