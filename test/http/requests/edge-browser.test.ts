import { request } from 'node:http';
import { connect } from 'node:net';
import { test, type Test } from 'tap';

import { unavailableNow, unauthorized, type Authenticated } from '../../../src/auth/authentication/authenticated.ts';
import type { Shown } from '../../../src/auth/authentication/authenticator.ts';
import type { Subject } from '../../../src/command/subject.ts';
import { jsonAnswer } from '../../../src/http/answer.ts';
import { csrfTokenOf } from '../../../src/auth/authentication/session-cookie.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { widgets } from '../../support/given.ts';
import { administrator, startEdge } from '../edge-server.ts';

const session: Subject = { kind: 'user', name: 'jane', credential: { kind: 'session', uid: 's', userUid: 'u' } };
const cookie = 'ledgerplane_session=good';

/** `Authorization: admin` is the administrator, the cookie `good` a session, any other a dead one. */
function authenticate({ authorization, cookie: shown }: Shown): Authenticated {
  if (authorization === 'admin') return { ok: true, subject: administrator };
  if (authorization === 'later') return unavailableNow;
  if (authorization !== undefined) return unauthorized('wrong');
  if (shown === undefined) return { ok: true, subject: { kind: 'visitor' } };
  return shown === cookie ? { ok: true, subject: session } : unauthorized('dead');
}

async function given(t: Test) {
  const registry = new TypeRegistry();
  registry.register(widgets);
  registry.serve(widgets.key);
  const edge = await startEdge({
    registry,
    authenticate,
    authorize: (subject, { path }) =>
      subject.kind === 'visitor' && !['/healthz', '/readyz', '/login'].includes(path)
        ? { allowed: false, reason: 'visitors may not' }
        : { allowed: true },
    platformRoutes: [
      { method: 'POST', path: '/login', route: (_params, { subject }) => jsonAnswer(subject) },
      { method: 'POST', path: '/login/more', route: (_params, { subject }) => jsonAnswer(subject) },
    ],
  });
  t.teardown(() => edge.stop());
  const send = async (
    path: string,
    headers: Record<string, string>,
    method = 'GET',
  ): Promise<{ readonly status: number; readonly text: string; readonly challenge: string | undefined }> =>
    new Promise((resolve, reject) => {
      const req = request({ host: '127.0.0.1', port: edge.port, path, method, headers }, (res) => {
        let text = '';
        res
          .setEncoding('utf8')
          .on('data', (chunk: string) => {
            text += chunk;
          })
          .on('end', () => {
            resolve({ status: res.statusCode ?? 0, text, challenge: res.headers['www-authenticate'] });
          });
      });
      req.on('error', reject).end();
    });
  const upgrade = async (headers: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      let answer = '';
      const lines = [
        `GET ${widgets.path} HTTP/1.1`,
        `Host: 127.0.0.1:${String(edge.port)}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      ];
      const socket = connect(edge.port, '127.0.0.1', () => {
        socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      });
      socket
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          answer += chunk;
        })
        .on('close', () => {
          resolve(answer.split('\r\n', 1)[0] ?? '');
        })
        .on('error', reject);
    });
  return { edge, send, upgrade };
}

test("no other site's page can watch, with any credential and transport", async (t) => {
  const { edge, send, upgrade } = await given(t);
  const own = `http://127.0.0.1:${String(edge.port)}`;
  const foreign = [
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-site'],
    ['origin', 'https://evil.example'],
    ['origin', 'null'],
    ['origin', ''],
  ] as const;
  for (const credential of [
    ['cookie', cookie],
    ['authorization', 'admin'],
  ] as const) {
    const shown = { [credential[0]]: credential[1] };
    for (const [name, value] of foreign) {
      const what = `${credential[0]}, ${name}: ${value}`;
      t.match(await upgrade([`${credential[0]}: ${credential[1]}`, `${name}: ${value}`]), /^HTTP\/1\.1 403 /u, what);
      t.equal((await send(`${widgets.path}?watch=true`, { ...shown, [name]: value })).status, 403, what);
      t.equal((await send(widgets.path, { ...shown, [name]: value, accept: 'text/event-stream' })).status, 403, what);
    }
    for (const headers of [
      {},
      { origin: own },
      { 'sec-fetch-site': 'same-origin', origin: own },
      { 'sec-fetch-site': 'none' },
    ]) {
      t.equal(
        await upgrade([
          `${credential[0]}: ${credential[1]}`,
          ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        ]),
        'upgraded',
      );
      t.match(await send(`${widgets.path}?watch=true`, { ...shown, ...headers }), { text: 'open' });
    }
  }
});

test('a write by cookie needs a token that only a page of this server has', async (t) => {
  const { send } = await given(t);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    t.equal((await send('/login/more', { cookie }, method)).status, 403, method);
    t.not((await send('/login/more', { cookie, 'x-csrf-token': csrfTokenOf('good') }, method)).status, 403, method);
    t.not((await send('/login/more', { cookie, 'sec-fetch-site': 'same-origin' }, method)).status, 403, method);
    t.not((await send('/login/more', { authorization: 'admin' }, method)).status, 403, `${method} without a cookie`);
  }
  t.equal((await send('/login/more', { cookie, 'x-csrf-token': csrfTokenOf('another') }, 'POST')).status, 403);
});

test('a log-in ignores the cookie, and no other check', async (t) => {
  const { send } = await given(t);
  for (const path of ['/login', '/login/', '//login', '/%6Cogin', '/login?x=1'])
    t.match(
      await send(path, { cookie: 'ledgerplane_session=dead' }, 'POST'),
      { status: 200, text: '{"kind":"visitor"}' },
      path,
    );
  t.match(await send('/login', { cookie }, 'POST'), { status: 200, text: '{"kind":"visitor"}' });
  t.equal((await send('/login', { authorization: 'wrong' }, 'POST')).status, 401);
  for (const [path, method] of [
    ['/login', 'GET'],
    ['/login/more', 'POST'],
    ['/Login', 'POST'],
    ['/healthz', 'GET'],
  ] as const)
    t.equal((await send(path, { cookie: 'ledgerplane_session=dead' }, method)).status, 401, path);
});

test('an unauthenticated caller gets a Basic challenge, a page with an ended session a Cookie challenge', async (t) => {
  const { send } = await given(t);
  t.match(await send(widgets.path, {}), { status: 401, challenge: /^Basic / });
  t.match(await send(widgets.path, { authorization: 'wrong' }), { status: 401, challenge: /^Basic / });
  t.match(await send(widgets.path, { cookie: 'ledgerplane_session=dead' }), { status: 401, challenge: /^Cookie / });
});

test('while credentials cannot be checked only probes are answered', async (t) => {
  const { send } = await given(t);
  for (const path of ['/healthz', '/readyz'])
    t.match(await send(path, { authorization: 'later' }), { status: 200, text: 'ok' }, path);
  for (const [path, method] of [
    [widgets.path, 'GET'],
    ['/healthz', 'POST'],
    ['/healthz/log', 'GET'],
    ['/login', 'POST'],
  ] as const)
    t.equal((await send(path, { authorization: 'later' }, method)).status, 503, path);
  t.equal((await send('/healthz', { authorization: 'wrong' })).status, 401, 'wrong ones are wrong all the same');
});

test('an unparsable If-Match is not a failed precondition', async (t) => {
  const { send } = await given(t);
  const status = async (value: string) =>
    (await send('/healthz', { authorization: 'admin', 'if-match': value })).status;
  for (const value of ['"0', '0"', '""0"', '"0",', '"0" "1"', ',"0"', 'abc', 'W/', '* "0"', '"0"x', ' '])
    t.equal(await status(value), 400, value);
  for (const value of ['"0"', '0', '*', '"0", "1"', 'W/"0"', '"abc"', '""', ' "0"\t,"1" '])
    t.equal(await status(value), 200, value);
});
