import { test } from 'tap';

import { basicCacheMs, sessionUseRecordMs, tokenUseRecordMs } from '../../src/limits/access.ts';
import { digestOf } from '../../src/auth/authentication/token-text.ts';
import type { UserSubject } from '../../src/command/subject.ts';
import { basic, bearer, cookie, givenCredentials } from './credentials.ts';

async function given() {
  const all = givenCredentials();
  await all.setPassword('jane', 'secret');
  const byToken = async (text: string) => all.authenticate({ authorization: bearer(text) });
  const bySession = async (text: string) => all.authenticate({ cookie: cookie(text) });
  return { ...all, byToken, bySession };
}

const unauthorized = { ok: false, reason: 'unauthorized' };

test('a token authenticates its owner, restricted to its roles', async (t) => {
  const { permissions, byToken, makeToken } = await given();
  const { record, text } = await makeToken('jane', { roles: ['viewer'] });
  const expected = {
    ok: true,
    subject: {
      kind: 'user',
      name: 'jane',
      credential: {
        kind: 'token',
        uid: record.uid,
        userUid: permissions.user('jane')?.uid,
        name: 'token-of-jane',
        roles: ['viewer'],
      },
    },
  };
  t.strictSame(await byToken(text), expected);
  t.strictSame(await byToken(text), expected, 'remembered');
});

test('any other text is refused', async (t) => {
  const { byToken, bySession, makeToken, authenticate } = await given();
  const { record, text } = await makeToken('jane');
  const other = await makeToken('jane', { name: 'other' });
  const secret = text.slice(-43);
  const wrong = [
    text.slice(0, -1),
    `${text}A`,
    `${text}=`,
    text.slice(1),
    text.toUpperCase(),
    text.replace('pat_', 'ses_'),
    text.replace('pat_', 'PAT_'),
    secret,
    'pat_',
    `pat_${secret}`,
    `${text.slice(0, -43)}${'A'.repeat(43)}`,
    other.text.slice(0, -43) + secret,
    text.slice(0, -43) + digestOf(text).slice(0, 43),
    `pat_${record.uid}_${secret}`,
    `${text.slice(0, -1)}${text.endsWith('A') ? 'E' : 'A'}`,
  ];
  for (const one of wrong) t.match(await byToken(one), unauthorized, one.replace(secret, '…'));
  t.match(await bySession(text), unauthorized, 'a token is no cookie');
  t.match(await authenticate({ authorization: `Basic ${text}` }), unauthorized);
  t.match(await byToken(text), { ok: true });
});

test('a token ends when it expires, is revoked or deleted, and with its owner', async (t) => {
  const { clock, permissions, byToken, makeToken, setPassword } = await given();
  for (const name of ['disabled', 'deleted', 'renewed']) await setPassword(name, 'x');
  const token = {
    expired: await makeToken('jane', { name: 'expired', expiresAt: clock.now() + 1_000 }),
    revoked: await makeToken('jane', { name: 'revoked' }),
    disabled: await makeToken('disabled'),
    deleted: await makeToken('deleted'),
    renewed: await makeToken('renewed'),
  };
  for (const { record, text } of Object.values(token)) t.match(await byToken(text), { ok: true }, record.name);
  clock.advance(999);
  t.match(await byToken(token.expired.text), { ok: true });
  clock.advance(1);
  permissions.putToken({ ...token.revoked.record, isRevoked: true });
  permissions.putUser('disabled', { isDisabled: true });
  permissions.dropUser('deleted');
  permissions.putUser('renewed', { uid: '99999999-9999-4999-8999-999999999999' });
  const answers = [];
  for (const { record, text } of Object.values(token)) {
    t.match(await byToken(text), unauthorized, record.name);
    answers.push(await byToken(text));
  }
  t.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1, 'and no answer names the reason');
  permissions.putUser('disabled', { isDisabled: false });
  t.match(await byToken(token.disabled.text), { ok: true }, 'enabled again, it counts again');
});

test('a new password does not end a token, unlike a session', async (t) => {
  const { byToken, makeToken, setPassword } = await given();
  const { text } = await makeToken('jane');
  await setPassword('jane', 'another');
  t.match(await byToken(text), { ok: true });
});

test('the last use of a token is recorded at most once a minute', async (t) => {
  const { clock, used, byToken, makeToken, setPassword } = await given();
  const { text } = await makeToken('jane');
  const { text: second } = await makeToken('jane', { name: 'second' });
  for (let request = 0; request < 5; request += 1) await byToken(text);
  await byToken(second);
  t.strictSame(used, ['token-of-jane', 'second']);
  await setPassword('jane', 'x');
  await byToken(text);
  t.equal(used.length, 2);
  clock.advance(Math.max(tokenUseRecordMs, basicCacheMs) - 1);
  await byToken(text);
  t.equal(used.length, 2);
  clock.advance(1);
  await byToken(text);
  t.strictSame(used, ['token-of-jane', 'second', 'token-of-jane']);
  await byToken(`${text}A`);
  t.equal(used.length, 3, 'a refused use is not recorded');
});

test('the last use of a session is recorded at most every ten minutes', async (t) => {
  const { clock, used, usedSessions, bySession, makeSession } = await given();
  const { record, text } = await makeSession('jane');
  for (let request = 0; request < 5; request += 1) await bySession(text);
  t.strictSame(usedSessions, [record.name]);
  clock.advance(sessionUseRecordMs - 1);
  await bySession(text);
  t.strictSame(usedSessions, [record.name]);
  clock.advance(basicCacheMs);
  await bySession(text);
  t.strictSame(usedSessions, [record.name, record.name]);
  await bySession(`${text}A`);
  t.equal(usedSessions.length, 2, 'a refused use is not recorded');
  t.strictSame(used, []);
});

test('a session authenticates its user', async (t) => {
  const { permissions, bySession, makeSession, authenticate } = await given();
  const { record, text } = await makeSession('jane');
  t.strictSame(await bySession(text), {
    ok: true,
    subject: {
      kind: 'user',
      name: 'jane',
      credential: { kind: 'session', uid: record.uid, userUid: permissions.user('jane')?.uid },
    },
  });
  t.match(await authenticate({ cookie: `a=b;ledgerplane_session = ${text} ; c=d` }), { ok: true });
  t.match(
    await authenticate({ authorization: basic('jane', 'secret'), cookie: cookie('ses_dead') }),
    { subject: { credential: { kind: 'password' } } },
    'a header goes before the cookie',
  );
  t.match(await authenticate({ authorization: bearer(text) }), unauthorized, 'a session is no bearer token');
});

test('several session cookies and malformed ones are refused rather than guessed', async (t) => {
  const { bySession, makeSession, authenticate } = await given();
  const { text } = await makeSession('jane');
  for (const header of [
    `${cookie(text)}; ${cookie('ses_other')}`,
    `${cookie('')}; ${cookie(text)}`,
    `${cookie(text)};${cookie(text)}`,
  ]) {
    t.match(
      await authenticate({ cookie: header }),
      { ...unauthorized, detail: /several cookies/u },
      header.replaceAll(text, '…'),
    );
  }
  for (const one of ['', text.slice(0, -1), `${text}A`, `"${text}"`, text.replace('ses_', 'pat_')])
    t.match(await bySession(one), { ...unauthorized, detail: /names no active session/u });
  t.match(await authenticate({ cookie: `ledgerplane_session2=${text}; xledgerplane_session=${text}` }), {
    subject: { kind: 'visitor' },
  });
});

test('a session ends when it is deleted or expires, and with its user or their password', async (t) => {
  const { clock, permissions, bySession, makeSession, setPassword } = await given();
  for (const name of ['out', 'late', 'disabled', 'deleted', 'renewed', 'changed']) await setPassword(name, 'x');
  const session = {
    out: await makeSession('out'),
    late: await makeSession('late', { expiresAt: clock.now() + 10 }),
    disabled: await makeSession('disabled'),
    deleted: await makeSession('deleted'),
    renewed: await makeSession('renewed'),
    changed: await makeSession('changed'),
  };
  for (const { record, text } of Object.values(session)) t.match(await bySession(text), { ok: true }, record.user);
  permissions.dropSession(session.out.record.uid);
  clock.advance(10);
  permissions.putUser('disabled', { isDisabled: true });
  permissions.dropUser('deleted');
  permissions.putUser('renewed', { uid: '99999999-9999-4999-8999-999999999999' });
  await setPassword('changed', 'x');
  for (const { record, text } of Object.values(session)) t.match(await bySession(text), unauthorized, record.user);
});

test("a subject's credential can be checked for validity at any time", async (t) => {
  const { clock, permissions, authenticator, authenticate, byToken, bySession, makeToken, makeSession, setPassword } =
    await given();
  const token = await makeToken('jane', { expiresAt: clock.now() + 5_000 });
  const subjects: UserSubject[] = [];
  for (const answer of [
    await authenticate({ authorization: basic('jane', 'secret') }),
    await byToken(token.text),
    await bySession((await makeSession('jane')).text),
  ]) {
    if (answer.ok && answer.subject.kind === 'user') subjects.push(answer.subject);
  }
  const valid = () => subjects.map((subject) => authenticator.isValid(subject));
  t.strictSame(valid(), [true, true, true]);
  await setPassword('jane', 'another');
  t.strictSame(valid(), [false, true, false]);
  clock.advance(5_000);
  t.strictSame(valid(), [false, false, false]);
  permissions.putUser('jane', { isDisabled: true });
  t.strictSame(valid(), [false, false, false]);
  t.equal(authenticator.isValid({ kind: 'visitor' }), true);
  t.equal(authenticator.isValid({ kind: 'plugin', name: 'x' }), true);
  t.equal(
    authenticator.isValid({ kind: 'user', name: 'oidc:a', credential: { kind: 'oidc', expiresAt: clock.now() + 1 } }),
    true,
  );
  t.equal(
    authenticator.isValid({ kind: 'user', name: 'oidc:a', credential: { kind: 'oidc', expiresAt: clock.now() } }),
    false,
  );
});
