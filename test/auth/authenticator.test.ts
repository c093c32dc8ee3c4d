import fc from 'fast-check';
import { test } from 'tap';

import {
  basicCacheEntriesMax,
  basicCacheMs,
  logInFailuresInAllMax,
  logInFailuresMax,
  logInFailureWindowMs,
  logInGuessesMax,
} from '../../src/limits/access.ts';
import { basic, bearer, cookie, givenCredentials } from './credentials.ts';

async function given() {
  const all = givenCredentials();
  await all.setPassword('admin', 'right');
  await all.setPassword('jane', 'doe:with:colons');
  return {
    ...all,
    logIn: async (name: string, password: string, address = '1.2.3.4') =>
      all.authenticate({ authorization: basic(name, password), address }),
  };
}

test('no header means a visitor, valid basic credentials mean their user, others are unauthorized', async (t) => {
  const { authenticator, authenticate, logIn, permissions } = await given();
  t.strictSame(authenticator.authenticate({ authorization: undefined, cookie: undefined, address: '' }), {
    ok: true,
    subject: { kind: 'visitor' },
  });
  t.strictSame(await authenticate({ cookie: 'theme=dark; x=ledgerplane_session' }), {
    ok: true,
    subject: { kind: 'visitor' },
  });
  for (const [name, password] of [
    ['admin', 'right'],
    ['jane', 'doe:with:colons'],
  ] as const) {
    t.strictSame(await logIn(name, password), {
      ok: true,
      subject: { kind: 'user', name, credential: { kind: 'password', uid: permissions.user(name)?.uid, revision: 0 } },
    });
  }
  const headers = [
    '',
    'Basic',
    'Basic ',
    'basic',
    'Bearer',
    'Bearer ',
    'Bearer abc',
    'Bearer a b',
    'Basic !!!',
    basic('', 'x'),
    `Basic ${Buffer.from('admin').toString('base64')}`,
    basic('admin', 'right\n'),
    basic('ad\0min', 'right'),
    `${basic('admin', 'right')},`,
    `${basic('admin', 'right')} x`,
    'Digest username="admin"',
    'Basic pat_x',
    'Bearer pat_',
    'Bearer ses_',
  ];
  for (const authorization of headers)
    t.match(
      await authenticate({ authorization, address: '9.9.9.9' }),
      { ok: false, reason: 'unauthorized' },
      authorization,
    );
});

test('unknown user, disabled user, missing password and wrong password get one answer at one cost', async (t) => {
  const { passwords, permissions, setPassword, logIn } = await given();
  permissions.putUser('fresh', {});
  await setPassword('gone', 'right');
  permissions.putUser('gone', { isDisabled: true });
  const wrong = await logIn('admin', 'wrong');
  t.match(wrong, { ok: false, reason: 'unauthorized' });
  for (const [name, password] of [
    ['nobody', 'x'],
    ['fresh', ''],
    ['gone', 'right'],
    ['constructor/../x', 'x'],
    ['__proto__', 'x'],
    ['a'.repeat(10_000), 'x'],
  ] as const) {
    t.strictSame(await logIn(name, password), wrong, name.slice(0, 20));
  }
  t.equal(passwords.verified, 6, 'a name that is too long is not hashed for');
});

test('no header and no cookie makes it throw', async (t) => {
  const { authenticate, clock } = await given();
  const text = fc.string({ unit: 'binary' });
  const header = fc.oneof(
    text,
    text.map((pair) => `Basic ${Buffer.from(pair).toString('base64')}`),
    text.map((token) => `Bearer pat_${token}`),
    fc.base64String().map((token) => `Bearer ${token}`),
  );
  await fc.assert(
    fc.asyncProperty(header, text, async (authorization, value) => {
      clock.advance(logInFailureWindowMs);
      const answers = [await authenticate({ authorization }), await authenticate({ cookie: cookie(value) })];
      return answers.every((answer) => !answer.ok && answer.reason === 'unauthorized');
    }),
    { numRuns: 200 },
  );
  t.pass();
});

test('verified credentials are cached for a while and answered at once', async (t) => {
  const { clock, passwords, authenticator, logIn } = await given();
  await logIn('admin', 'right');
  const shown = { authorization: basic('admin', 'right'), cookie: undefined, address: '1.2.3.4' };
  t.notOk(authenticator.authenticate(shown) instanceof Promise);
  clock.advance(basicCacheMs - 1);
  await logIn('admin', 'right');
  t.equal(passwords.verified, 1);
  clock.advance(1);
  await logIn('admin', 'right');
  t.equal(passwords.verified, 2);
});

test('cached credentials end with their user, on a disable and with the next password', async (t) => {
  const { passwords, permissions, setPassword, logIn } = await given();
  for (const name of ['one', 'two', 'three']) {
    await setPassword(name, 'pw');
    t.match(await logIn(name, 'pw'), { ok: true });
  }
  const before = passwords.verified;
  permissions.putUser('one', { isDisabled: true });
  permissions.dropUser('two');
  await setPassword('three', 'other');
  for (const name of ['one', 'two', 'three'])
    t.match(await logIn(name, 'pw'), { ok: false, reason: 'unauthorized' }, name);
  t.match(await logIn('three', 'other'), { ok: true });
  permissions.putUser('one', { isDisabled: false });
  t.match(await logIn('one', 'pw'), { ok: true });
  t.equal(passwords.verified, before + 5);
});

test('a password that changes during the verification of the old one is refused', async (t) => {
  const { permissions, logIn } = await given();
  const pending = logIn('admin', 'right');
  permissions.putUser('admin', { passwordRevision: 1 });
  t.match(await pending, { ok: false, reason: 'unauthorized' });
});

test('many requests with equal credentials are one log-in', async (t) => {
  const { passwords, logIn } = await given();
  const answers = await Promise.all(Array.from({ length: 100 }, () => logIn('admin', 'right')));
  t.ok(answers.every(({ ok }) => ok));
  t.equal(passwords.verified, 1);
});

test('failures of a user from an address block neither the user elsewhere nor other users there', async (t) => {
  const { logIn } = await given();
  for (let attempt = 0; attempt < logInFailuresMax; attempt += 1)
    t.match(await logIn('admin', `wrong ${String(attempt)}`, '10.9.9.9'), { reason: 'unauthorized' });
  t.match(await logIn('admin', 'right', '10.9.9.9'), { reason: 'too-many-requests' });
  t.match(await logIn('admin', 'right', '10.1.1.1'), { ok: true });
  t.match(await logIn('jane', 'doe:with:colons', '10.9.9.9'), { ok: true });
});

test('failures are counted by user and by address up to the limit, and expire', async (t) => {
  const { clock, logIn, authenticator } = await given();
  for (let attempt = 0; attempt < logInFailuresInAllMax; attempt += 1)
    t.match(await logIn('admin', `wrong ${String(attempt)}`, `10.0.0.${String(attempt)}`), { reason: 'unauthorized' });
  clock.advance(1_500);
  const refused = {
    ok: false,
    reason: 'too-many-requests',
    detail: 'too many failed log-ins',
    retryAfterSeconds: logInFailureWindowMs / 1_000 - 1,
  };
  t.strictSame(await logIn('admin', 'right', '10.1.1.1'), refused);
  const byForm = await authenticator.verifyPassword('admin', 'right', { address: '10.1.1.2' });
  t.strictSame(byForm, refused, 'by whatever way');
  t.match(await logIn('jane', 'doe:with:colons', '10.1.1.1'), { ok: true }, 'another user from another address');
  for (let attempt = 0; attempt < logInFailuresInAllMax; attempt += 1)
    t.match(await logIn(`user${String(attempt)}`, 'wrong', '10.2.2.2'), { reason: 'unauthorized' });
  t.match(
    await logIn('someone', 'wrong', '10.2.2.2'),
    { reason: 'too-many-requests' },
    'another user from that address',
  );
  clock.advance(logInFailureWindowMs);
  t.match(await logIn('admin', 'right', '10.2.2.2'), { ok: true });
});

test('simultaneous attempts do not exceed the limit together', async (t) => {
  const { logIn } = await given();
  const answers = await Promise.all(
    Array.from({ length: logInFailuresMax * 2 }, (_, attempt) => logIn('admin', `wrong ${String(attempt)}`)),
  );
  t.equal(answers.filter((answer) => !answer.ok && answer.reason === 'unauthorized').length, logInFailuresMax);
});

test('networks from which a user has logged in stay open to them while others guess', async (t) => {
  const { clock, permissions, logIn, authenticator } = await given();
  t.match(await logIn('admin', 'right', '10.1.1.1'), { ok: true });
  t.match(await logIn('admin', 'right', '2001:db8::1'), { ok: true });
  clock.advance(logInFailureWindowMs);
  for (let attempt = 0; attempt < logInFailuresInAllMax; attempt += 1) {
    t.match(await logIn('admin', `wrong ${String(attempt)}`, `10.0.0.${String(attempt % 12)}`), {
      reason: 'unauthorized',
    });
  }
  t.match(await logIn('admin', 'right', '10.3.3.3'), { reason: 'too-many-requests' }, 'an address that is not known');
  t.match(await logIn('nobody', 'wrong', '10.0.0.1'), { reason: 'unauthorized' });
  for (const address of ['10.1.1.1', '2001:db8::1', '2001:db8::ffff:1']) {
    t.match(await authenticator.verifyPassword('admin', 'right', { address }), { ok: true }, address);
  }
  const wrong = Array.from({ length: logInFailuresMax }, (_, attempt) => `wrong ${String(attempt)}`);
  for (const guess of wrong) await logIn('admin', guess, '2001:db8::2');
  t.match(await logIn('admin', 'right', '2001:db8::3'), { reason: 'too-many-requests' }, 'its own bound stays');
  permissions.putUser('admin', { uid: 'another' });
  const another = await authenticator.verifyPassword('admin', 'right', { address: '2001:db8::1' });
  t.match(another, { reason: 'too-many-requests' }, 'another user of that name');
});

test('the limits are the same for an unknown name', async (t) => {
  const { logIn } = await given();
  for (const name of ['admin', 'nobody']) {
    for (let attempt = 0; attempt < logInFailuresMax; attempt += 1)
      t.match(await logIn(name, `wrong ${String(attempt)}`), { reason: 'unauthorized' });
    t.match(await logIn(name, 'wrong'), { reason: 'too-many-requests', detail: 'too many failed log-ins' });
  }
});

test('an IPv6 network is one address', async (t) => {
  const { logIn } = await given();
  for (let attempt = 0; attempt < logInFailuresInAllMax; attempt += 1)
    await logIn(`u${String(attempt)}`, 'wrong', `2001:db8::${attempt.toString(16)}`);
  t.match(await logIn('jane', 'doe:with:colons', '2001:db8::abcd:1'), { reason: 'too-many-requests' });
  t.match(await logIn('jane', 'doe:with:colons', '2001:db8:0:1::1'), { ok: true });
});

test('simultaneous correct log-ins all succeed', async (t) => {
  const { authenticator, passwords } = await given();
  const logIn = async () => authenticator.verifyPassword('admin', 'right', { address: '10.1.1.1' });
  const answers = await Promise.all(Array.from({ length: 50 }, logIn));
  t.strictSame(
    answers.filter(({ ok }) => !ok),
    [],
  );
  t.equal(passwords.verified, 1, 'equal ones are hashed once');
});

test('all spellings of the same credentials are one log-in and take one slot in the cache', async (t) => {
  const { authenticate, authenticator, passwords, setPassword, logIn } = await given();
  await setPassword('amy', 'pässword');
  await logIn('jane', 'doe:with:colons');
  const usual = basic('amy', 'pässword');
  const spellings = [
    usual,
    usual.replace('Basic', 'bASIC'),
    usual.replace('Basic', 'Basic  '),
    usual.replace(/=+$/u, ''),
    basic('amy', 'pässword'.normalize('NFD')),
  ];
  t.equal(new Set(spellings).size, spellings.length);
  const before = passwords.verified;
  for (let spaces = 0; spaces < basicCacheEntriesMax; spaces += 1) {
    await authenticate({ authorization: usual.replace('Basic', `Basic ${' '.repeat(spaces)}`) });
  }
  for (const authorization of spellings) t.match(await authenticate({ authorization }), { ok: true }, authorization);
  t.match(await authenticator.verifyPassword('amy', 'pässword', { address: '1.2.3.4' }), { ok: true });
  t.equal(passwords.verified, before + 1);
  const jane = { authorization: basic('jane', 'doe:with:colons'), cookie: undefined, address: '1.2.3.4' };
  t.notOk(authenticator.authenticate(jane) instanceof Promise, 'what another user showed stays remembered');
});

test('credentials cached for one address do not help another one with too many failures', async (t) => {
  const { logIn } = await given();
  await logIn('admin', 'right', '10.1.1.1');
  const guesses = Array.from({ length: logInFailuresMax }, (_, attempt) => `wrong ${String(attempt)}`);
  for (const guess of guesses) await logIn('admin', guess, '10.9.9.9');
  const [wrong, right] = [await logIn('admin', 'wrong', '10.9.9.9'), await logIn('admin', 'right', '10.9.9.9')];
  t.match(wrong, { reason: 'too-many-requests' });
  t.strictSame(right, wrong);
});

test('the window of failures slides: at most the limit pass in any minute', async (t) => {
  const { clock, logIn } = await given();
  const times: number[] = [];
  for (let second = 0; second < 180; second += 1) {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const answer = await logIn('admin', `wrong ${String(second)} ${String(attempt)}`);
      if (!answer.ok && answer.reason === 'unauthorized') times.push(clock.monotonic());
    }
    clock.advance(1_000);
  }
  t.ok(times.length >= logInFailuresMax * 3, 'it goes on being answered');
  const within = (from: number): number => times.filter((at) => at >= from && at < from + logInFailureWindowMs).length;
  const most = Math.max(...times.map(within));
  t.equal(most, logInFailuresMax);
});

test('a request whose client has disconnected leaves the queue, and equal ones proceed for the others', async (t) => {
  const { authenticator, passwords, permissions } = await given();
  const ends: (() => void)[] = [];
  const hold = async (): Promise<void> =>
    new Promise((resolve) => {
      ends.push(resolve);
    });
  const busy = [0, 1].map(async () => passwords.turns.run({ network: 'busy', isKnown: false }, hold));
  const ask = (name: string, { signal }: AbortController) =>
    authenticator.verifyPassword(name, 'right', { address: '10.1.1.1', signal: () => signal });
  const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
  const answers = [ask('admin', first), ask('admin', second), ask('nobody', third)];
  t.equal(passwords.turns.waiting, 2);
  first.abort();
  third.abort();
  t.equal(passwords.turns.waiting, 1, 'somebody still waits for the one of admin');
  t.match(await answers[2], { reason: 'unavailable' });
  second.abort();
  t.equal(passwords.turns.waiting, 0);
  const abort = new AbortController();
  abort.abort();
  t.match(await ask('admin', abort), { reason: 'unavailable' });
  const later = ask('admin', new AbortController());
  t.equal(passwords.turns.waiting, 1, 'what comes after all have gone begins anew');
  for (const end of ends) end();
  await Promise.all(busy);
  t.strictSame(await later, { ok: true, user: permissions.user('admin') });
  t.equal(passwords.verified, 1);
});

test('impossible names and passwords are not hashed', async (t) => {
  const { logIn, passwords } = await given();
  for (const [name, password] of [
    ['n'.repeat(254), 'x'],
    ['admin', 'x'.repeat(2_049)],
  ] as const)
    t.match(await logIn(name, password), { reason: 'unauthorized' });
  t.equal(passwords.verified, 0);
  for (const [name, password] of [
    ['n'.repeat(253), 'x'],
    ['admin', 'x'.repeat(2_048)],
  ] as const)
    t.match(await logIn(name, password), { reason: 'unauthorized' });
  t.equal(passwords.verified, 2);
});

test('successes are not failures, in any number', async (t) => {
  const { clock, passwords, logIn } = await given();
  for (let attempt = 0; attempt < logInFailuresMax * 2; attempt += 1) {
    t.match(await logIn('admin', 'right'), { ok: true });
    clock.advance(basicCacheMs);
  }
  t.equal(passwords.verified, logInFailuresMax * 2);
});

test('cached credentials keep working while their user is attacked', async (t) => {
  const { logIn } = await given();
  await logIn('admin', 'right');
  for (let attempt = 0; attempt <= logInFailuresMax; attempt += 1) await logIn('admin', `wrong ${String(attempt)}`);
  t.match(await logIn('admin', 'right'), { ok: true });
});

test('guesses from an address with cached credentials are bounded, and a later correct one is refused', async (t) => {
  const { authenticator, clock, logIn } = await given();
  for (const address of ['10.1.1.1', '10.2.2.2']) await logIn('admin', 'right', address);
  await logIn('jane', 'doe:with:colons', '10.1.1.1');
  clock.advance(1_000);
  for (let guess = 1; guess < logInGuessesMax; guess += 1) await logIn('admin', `wrong ${String(guess)}`, '10.1.1.1');
  t.match(await logIn('admin', 'right', '10.1.1.1'), { ok: true }, 'one guess less than the bound');
  t.match(await logIn('admin', 'the last wrong one', '10.1.1.1'), { reason: 'too-many-requests' });
  const [wrong, right] = [await logIn('admin', 'wrong', '10.1.1.1'), await logIn('admin', 'right', '10.1.1.1')];
  t.match(wrong, { reason: 'too-many-requests' });
  t.strictSame(right, wrong);
  t.strictSame(await authenticator.verifyPassword('admin', 'right', { address: '10.1.1.1' }), wrong, 'by whatever way');
  t.match(await logIn('admin', 'right', '10.2.2.2'), { ok: true }, 'it is remembered elsewhere');
  t.match(await logIn('jane', 'doe:with:colons', '10.1.1.1'), { ok: true }, 'so is another user there');
  // A repeated request alone does not prolong it.
  for (let second = 1; second < logInFailureWindowMs / 1_000; second += 1) {
    clock.advance(1_000);
    await logIn('admin', 'right', '10.1.1.1');
  }
  t.notOk((await logIn('admin', 'right', '10.1.1.1')).ok);
  clock.advance(1_000);
  t.match(await logIn('admin', 'right', '10.1.1.1'), { ok: true });
});

test('credentials are unavailable while the tables are not ready, and cached ones need no log', async (t) => {
  const { log, permissions, authenticate, authenticator, logIn, makeToken, makeSession } = await given();
  const token = await makeToken('jane');
  const session = await makeSession('jane');
  const shown = [
    { authorization: basic('admin', 'right') },
    { authorization: bearer(token.text) },
    { cookie: cookie(session.text) },
    { authorization: 'nonsense' },
  ];
  permissions.ready = false;
  for (const one of shown) t.match(await authenticate(one), { ok: false, reason: 'unavailable', retryAfterSeconds: 1 });
  t.match(await authenticator.verifyPassword('admin', 'right', { address: '' }), { reason: 'unavailable' });
  t.match(await authenticate({}), { ok: true, subject: { kind: 'visitor' } });
  permissions.ready = true;
  await log.close();
  for (const one of shown.slice(0, 3)) t.match(await authenticate(one), { ok: true, subject: { kind: 'user' } });
  t.match(await logIn('admin', 'wrong'), { reason: 'unauthorized' });
});

test('cached credentials are bounded, and the oldest are dropped first', async (t) => {
  const { authenticator, setPassword, logIn } = await given();
  // A pair is remembered beside its header.
  const users = basicCacheEntriesMax / 2;
  for (let user = 0; user <= users; user += 1) await setPassword(`u${String(user)}`, 'x');
  for (let user = 0; user <= users; user += 1) {
    t.match(await logIn(`u${String(user)}`, 'x', String(user)), { ok: true });
  }
  const again = (user: string) =>
    authenticator.authenticate({ authorization: basic(`u${user}`, 'x'), cookie: undefined, address: user });
  t.notOk(again('1') instanceof Promise);
  t.ok(again('0') instanceof Promise);
});

test('a log-in and the change of the own password verify a password in the same way', async (t) => {
  const { authenticator, permissions } = await given();
  const verified = await authenticator.verifyPassword('jane', 'doe:with:colons', { address: '' });
  t.strictSame(verified, { ok: true, user: permissions.user('jane') });
  t.match(await authenticator.verifyPassword('jane', 'wrong', { address: '' }), { ok: false, reason: 'unauthorized' });
});
