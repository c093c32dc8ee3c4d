import { request } from 'node:http';
import { test, type Test } from 'tap';

import type { Authorize } from '../../../src/auth/authorization/authorize.ts';
import { createSenderOf } from '../../../src/http/client/client-address.ts';
import { sessionRoutes } from '../../../src/http/platform/session-routes.ts';
import { unrecorded } from '../../../src/auth/access-events/access-recorder.ts';
import { logInFailuresMax, sessionLifetimeMs, sessionsPerUserMax } from '../../../src/limits/access.ts';
import { Accounts } from '../../support/server/accounts.ts';
import { startEdge } from '../edge-server.ts';

type Sent = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };
type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  readonly json: Record<string, unknown>;
};

const password = 'correct horse';

/** As visitors may log in, and authenticated users may read and write the path /mine. */
const authorize: Authorize = (subject, info) =>
  subject.kind !== 'visitor' || ['/login', '/healthz'].includes(info.path)
    ? { allowed: true }
    : { allowed: false, reason: 'visitors may not' };

async function given(t: Test, senderOf = createSenderOf([])) {
  const accounts = await Accounts.open(t);
  await accounts.create(accounts.users, 'jane', { spec: { password } });
  const { authenticator, permissions, execute, sessions, clock, models: reader } = accounts;
  const edge = await startEdge({
    clock,
    authorize,
    execute,
    senderOf,
    authenticate: (shown) => authenticator.authenticate(shown),
    platformRoutes: [
      ...sessionRoutes({
        authenticator,
        permissions,
        reader,
        execute,
        sessions,
        clock,
        refusals: { logInFailed: () => undefined },
        accesses: unrecorded,
      }),
      ...['GET', 'POST'].map((method) => ({
        method,
        path: '/mine',
        route: () => ({ kind: 'empty' as const, status: 204 as const, headers: [] }),
      })),
    ],
  });
  t.teardown(() => edge.stop());
  /** By `node:http`, which sends what browsers would not let a script send. */
  const send = async (path: string, { method = 'GET', headers = {}, body = '' }: Sent = {}): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const req = request({ host: '127.0.0.1', port: edge.port, path, method, headers }, (res) => {
        let text = '';
        res
          .setEncoding('utf8')
          .on('data', (chunk: string) => {
            text += chunk;
          })
          .on('end', () => {
            resolve({
              status: res.statusCode ?? 0,
              headers: res.headers,
              text,
              json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
            });
          });
      });
      req.on('error', reject).end(body);
    });
  const logIn = async (more: Sent = {}): Promise<Answered> =>
    send('/login', { method: 'POST', body: JSON.stringify({ username: 'jane', password }), ...more });
  const session = async (): Promise<{ readonly cookie: string; readonly csrf: string }> => {
    const answer = await logIn();
    return { cookie: cookieOf(answer), csrf: String(answer.json['csrfToken']) };
  };
  return { accounts, edge, send, logIn, session };
}

function cookieOf({ headers }: Answered): string {
  return headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
}

test('a log-in by JSON or form answers with a cookie and its CSRF token', async (t) => {
  const { accounts, send, logIn } = await given(t);
  const form = {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'username=jane&password=correct+horse',
  };
  for (const answer of [await logIn(), await logIn(form)]) {
    t.equal(answer.status, 200);
    t.match(answer.json, { username: 'jane', csrfToken: /^[A-Za-z0-9_-]{43}$/u });
    t.strictSame(Object.keys(answer.json), ['username', 'csrfToken']);
    t.match(
      answer.headers['set-cookie']?.[0],
      /^ledgerplane_session=ses_[0-9a-f]{32}_[A-Za-z0-9_-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/u,
    );
    t.equal((await send('/mine', { headers: { cookie: cookieOf(answer) } })).status, 204);
  }
  const [name = ''] = accounts.names(accounts.sessions);
  const stored = accounts.object(accounts.sessions, name);
  t.match(stored, {
    metadata: { generateName: 'session-' },
    spec: { user: 'jane' },
    status: {
      userUid: accounts.permissions.user('jane')?.uid,
      passwordRevision: 0,
      expiresAt: new Date(accounts.clock.now() + sessionLifetimeMs).toISOString(),
    },
  });
  t.equal((await send('/mine')).status, 401);
});

test('the cookie is Secure where a trusted proxy says that it ended TLS', async (t) => {
  const { logIn } = await given(t, createSenderOf(['127.0.0.1']));
  const isSecure = async (headers: Record<string, string>) =>
    (await logIn({ headers })).headers['set-cookie']?.[0]?.endsWith('; Secure');
  for (const scheme of ['https', 'HTTPS', 'https, http'])
    t.equal(await isSecure({ 'x-forwarded-proto': scheme }), true, scheme);
  for (const scheme of ['http', '', 'httpss']) t.equal(await isSecure({ 'x-forwarded-proto': scheme }), false, scheme);
  for (const forwarded of ['for=1.2.3.4;proto=https', 'Proto="HTTPS";for=1.2.3.4', 'proto=http, proto=https'])
    t.equal(await isSecure({ forwarded }), true, forwarded);
  for (const forwarded of ['for=1.2.3.4;proto=http', 'host=proto;for=https'])
    t.equal(await isSecure({ forwarded }), false, forwarded);
  const { logIn: direct } = await given(t);
  const answer = await direct({ headers: { 'x-forwarded-proto': 'https', forwarded: 'proto=https' } });
  t.notMatch(answer.headers['set-cookie']?.[0], /Secure/u, 'a client says nothing of the connection');
});

test('unknown user, disabled user, missing password and wrong password get one answer', async (t) => {
  const { accounts, logIn } = await given(t);
  await accounts.create(accounts.users, 'fresh', { spec: {} });
  await accounts.create(accounts.users, 'gone', { spec: { password, disabled: true } });
  const details = new Set<unknown>();
  for (const pair of [
    { username: 'jane', password: 'wrong' },
    { username: 'nobody', password },
    { username: 'gone', password },
    { username: 'fresh', password: '' },
    { username: 'oidc:jane', password },
    { username: '', password: '' },
  ]) {
    const answer = await logIn({ body: JSON.stringify(pair) });
    t.equal(answer.status, 401, pair.username);
    t.equal(answer.headers['set-cookie'], undefined);
    t.match(answer.headers['www-authenticate'], /^Cookie /u, 'a browser asks nobody on its own');
    details.add(answer.json['detail']);
  }
  t.strictSame([...details], ['the user name or password is wrong']);
  t.equal(accounts.names(accounts.sessions).length, 0);
});

test('a malformed log-in is refused with its violation', async (t) => {
  const { logIn, send } = await given(t);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const cases: readonly (readonly [number, Sent])[] = [
    [400, { body: '' }],
    [400, { body: '[]' }],
    [400, { body: '{"username":"jane"}' }],
    [400, { body: '{"username":"jane","password":1}' }],
    [400, { body: '{"username":"jane","username":"john","password":"x"}' }],
    [400, { headers: form, body: 'username=jane' }],
    [400, { headers: form, body: 'username=jane&username=john&password=x' }],
    [415, { headers: { 'content-type': 'text/plain' }, body: '{"username":"jane","password":"correct horse"}' }],
    [415, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
    [413, { body: ' '.repeat(1_048_577) }],
  ];
  for (const [status, sent] of cases) t.equal((await logIn(sent)).status, status, JSON.stringify(sent).slice(0, 80));
  t.equal((await send('/login')).status, 405);
});

test('after too many failed log-ins the answer has a Retry-After', async (t) => {
  const { logIn } = await given(t);
  for (let attempt = 0; attempt < logInFailuresMax; attempt += 1)
    await logIn({ body: '{"username":"jane","password":"wrong"}' });
  const answer = await logIn();
  t.equal(answer.status, 429);
  t.equal(answer.headers['retry-after'], '60');
});

test('a log-out ends the session, and its cookie is invalid afterwards', async (t) => {
  const { accounts, send, logIn, session } = await given(t);
  const { cookie, csrf } = await session();
  const other = await session();
  t.equal((await send('/logout', { method: 'POST', headers: { cookie } })).status, 403, 'it is a write');
  const answer = await send('/logout', { method: 'POST', headers: { cookie, 'x-csrf-token': csrf } });
  t.equal(answer.status, 204);
  t.equal(answer.headers['set-cookie']?.[0], 'ledgerplane_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax');
  for (const [path, sent] of [
    ['/mine', {}],
    ['/healthz', {}],
    ['/logout', { method: 'POST' }],
  ] as const) {
    const replayed = await send(path, { ...sent, headers: { cookie, 'x-csrf-token': csrf } });
    t.equal(replayed.status, 401, path);
    t.match(replayed.json['detail'], /names no active session/u);
    t.match(replayed.headers['www-authenticate'], /^Cookie /u);
  }
  t.equal((await send('/mine', { headers: { cookie: other.cookie } })).status, 204, 'the other one goes on');
  t.equal((await logIn({ headers: { cookie } })).status, 200, 'and one may log in with a dead cookie');
  const live = accounts
    .names(accounts.sessions)
    .filter((name) => accounts.object(accounts.sessions, name)?.metadata.deletionTimestamp === undefined);
  t.equal(live.length, 2);
  const basic = `Basic ${Buffer.from(`jane:${password}`).toString('base64')}`;
  t.equal((await send('/logout', { method: 'POST', headers: { authorization: basic } })).status, 400);
});

test('a session ends with its password, its user or its day', async (t) => {
  const { accounts, send, session } = await given(t);
  const first = await session();
  await accounts.merge(accounts.users, 'jane', { spec: { password: 'another one' } });
  t.equal((await send('/mine', { headers: { cookie: first.cookie } })).status, 401, 'another password');
  await accounts.merge(accounts.users, 'jane', { spec: { password } });
  t.equal(
    (await send('/mine', { headers: { cookie: first.cookie } })).status,
    401,
    'and the same one again is another',
  );
  const second = await session();
  accounts.clock.advance(sessionLifetimeMs - 1);
  t.equal((await send('/mine', { headers: { cookie: second.cookie } })).status, 204);
  accounts.clock.advance(1);
  t.equal((await send('/mine', { headers: { cookie: second.cookie } })).status, 401, 'expired');
  const third = await session();
  await accounts.merge(accounts.users, 'jane', { spec: { disabled: true } });
  t.equal((await send('/mine', { headers: { cookie: third.cookie } })).status, 401, 'disabled');
  await accounts.merge(accounts.users, 'jane', { spec: { disabled: false } });
  t.equal(
    (await send('/mine', { headers: { cookie: third.cookie } })).status,
    401,
    'and enabled before anybody has deleted the session',
  );
  t.equal((await send('/mine', { headers: { cookie: (await session()).cookie } })).status, 204);
});

test('a write by cookie needs the CSRF token or a page of this very server', async (t) => {
  const { send, session } = await given(t);
  const { cookie, csrf } = await session();
  const other = await session();
  const post = async (headers: Record<string, string>) =>
    (await send('/mine', { method: 'POST', headers: { cookie, ...headers } })).status;
  t.equal(await post({ 'x-csrf-token': csrf }), 204);
  t.equal(await post({ 'sec-fetch-site': 'same-origin' }), 204);
  for (const headers of [
    {},
    { 'x-csrf-token': '' },
    { 'x-csrf-token': `${csrf}A` },
    { 'x-csrf-token': csrf.slice(1) },
    { 'x-csrf-token': other.csrf },
    { 'x-csrf-token': cookie },
    { 'sec-fetch-site': 'none' },
  ]) {
    t.equal(await post(headers), 403, JSON.stringify(Object.keys(headers)));
  }
  for (const site of ['cross-site', 'same-site', 'same-origin, cross-site', 'SAME-ORIGIN'])
    t.equal(await post({ 'x-csrf-token': csrf, 'sec-fetch-site': site }), 403, site);
  t.equal(
    (await send('/mine', { method: 'POST', headers: { cookie: `${cookie}; ${other.cookie}`, 'x-csrf-token': csrf } }))
      .status,
    401,
    'two cookies are none',
  );
  t.equal((await send('/mine', { headers: { cookie } })).status, 204, 'a read needs none');
});

test('no header overrides the method of a request', async (t) => {
  const { send, session } = await given(t);
  const { cookie } = await session();
  for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
    t.equal((await send('/mine', { method: 'POST', headers: { cookie, [name]: 'GET' } })).status, 403, name);
    t.equal((await send('/login', { headers: { cookie, [name]: 'POST' } })).status, 405, name);
  }
});

test('another site can make a browser neither log in nor log out', async (t) => {
  const { accounts, edge, logIn, send, session } = await given(t);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = 'username=jane&password=correct+horse';
  const own = `http://127.0.0.1:${String(edge.port)}`;
  for (const foreign of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${own}.evil.example` },
    { origin: 'http://127.0.0.1' },
    { origin: 'file://' },
  ]) {
    const answer = await logIn({ headers: { ...form, ...foreign }, body });
    t.equal(answer.status, 403, JSON.stringify(foreign));
    t.equal(answer.headers['set-cookie'], undefined);
  }
  t.equal(accounts.names(accounts.sessions).length, 0);
  t.equal((await logIn({ headers: { ...form, origin: own }, body })).status, 200);
  t.equal((await logIn({ headers: { ...form, origin: own, 'sec-fetch-site': 'same-origin' }, body })).status, 200);
  t.equal(
    (await logIn({ headers: { origin: 'https://ledger.example', host: 'ledger.example:443' } })).status,
    200,
    'behind a proxy, whatever the scheme here',
  );
  const { cookie, csrf } = await session();
  t.equal(
    (
      await send('/logout', {
        method: 'POST',
        headers: { cookie, 'x-csrf-token': csrf, origin: 'https://evil.example' },
      })
    ).status,
    403,
  );
  const basic = { authorization: `Basic ${Buffer.from(`jane:${password}`).toString('base64')}` };
  t.equal(
    (await send('/mine', { method: 'POST', headers: { ...basic, origin: 'https://evil.example' } })).status,
    403,
    'whatever the credential',
  );
  t.equal(
    (await send('/mine', { headers: { ...basic, origin: 'https://evil.example' } })).status,
    204,
    'a read is answered: no page of theirs can see it',
  );
});

test('no log line, event or object contains a password, a cookie or a token', async (t) => {
  const { accounts, edge, send, logIn, session } = await given(t);
  const { cookie, csrf } = await session();
  await logIn({ body: '{"username":"jane","password":"a wrong one"}' });
  await send('/mine', { headers: { cookie: `${cookie}A` } });
  await send('/mine', { headers: { authorization: `Bearer pat_${'a'.repeat(76)}` } });
  await send('/logout', { method: 'POST', headers: { cookie, 'x-csrf-token': csrf } });
  const secret = cookie.slice(-43);
  const answers = [
    JSON.stringify(edge.lines),
    ...accounts.names(accounts.sessions).map((name) => JSON.stringify(accounts.object(accounts.sessions, name))),
  ];
  for (const { data, metadata } of await accounts.recorded())
    answers.push(Buffer.from(data).toString(), Buffer.from(metadata).toString());
  for (const hidden of [password, 'a wrong one', secret, csrf])
    t.notOk(
      answers.some((text) => text.includes(hidden)),
      'not told',
    );
});

test("a log-in beyond the quota of sessions ends the user's oldest session, also with concurrent ones", async (t) => {
  const { accounts, send, session } = await given(t);
  const first = await session();
  const second = await session();
  for (let begun = 2; begun < sessionsPerUserMax; begun += 1) await session();
  const isGood = async ({ cookie }: { readonly cookie: string }) =>
    (await send('/mine', { headers: { cookie } })).status === 204;
  t.equal(accounts.permissions.sessionsOf('jane').length, sessionsPerUserMax);
  t.ok(await isGood(first));
  const next = await session();
  t.equal(accounts.permissions.sessionsOf('jane').length, sessionsPerUserMax);
  t.strictSame([await isGood(first), await isGood(second), await isGood(next)], [false, true, true]);
  const many = await Promise.all(Array.from({ length: 10 }, async () => session()));
  t.equal(accounts.permissions.sessionsOf('jane').length, sessionsPerUserMax);
  t.notOk(await isGood(second));
  for (const begun of [next, ...many]) t.ok(await isGood(begun));
});
