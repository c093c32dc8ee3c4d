/** Log-ins, log-outs and refusals of a running server, as its log has them. */
import { test, type Test } from 'tap';

import type { AccessEntry, AccessEvent } from '../../../src/command/event.ts';
import { decodeEvent, decodeMetadata } from '../../../src/log/event-codec.ts';
import { logStart, type EventLog, type RecordedEvent } from '../../../src/log/log.ts';
import { openLog as openConfiguredLog } from '../../../src/server/open-log.ts';
import { Administration, as, core, passwordOf } from '../../support/server/administration.ts';
import { Browser, locationOf } from '../../support/server/browser.ts';
import { clientId, clientSecret, startProvider } from '../../support/server/identity-provider.ts';
import { startTestServer, testPassword, type TestServer } from '../../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });

async function opened(t: Test, environment: Readonly<Record<string, string>>) {
  const logs: EventLog[] = [];
  const server = await startTestServer({
    environment,
    openLog: async (...given) => {
      const opening = await openConfiguredLog(...given);
      logs.push(opening.log);
      return opening;
    },
  });
  t.teardown(async () => server.remove());
  return { server, logs };
}

/** The events up to the one that has an entry which fits. */
async function untilEntry(log: EventLog, fits: (entry: AccessEntry) => boolean): Promise<readonly RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  for await (const batch of log.subscribe({ after: logStart, categories: ['access'] })) {
    found.push(...batch);
    if (batch.some((recorded) => entriesOf(recorded).some(fits))) return found;
  }
  throw new Error('the log has closed');
}

function entriesOf(recorded: RecordedEvent): readonly AccessEntry[] {
  return (decodeEvent(recorded).event as AccessEvent).entries;
}

type Ask = { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown };

async function send({ url }: TestServer, path: string, { method = 'GET', headers = {}, body }: Ask = {}) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}

test('each log-in, log-out and refusal is in the log, without secrets and outside of objects', async (t) => {
  const { server, logs } = await opened(t, { ACCESS_EVENTS: 'on' });
  const administration = new Administration(server.url);
  await administration.user('jane');
  const before = (await (await server.call(widgets)).json()) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  const logIn = async (username: string, password: string) =>
    send(server, '/login', { method: 'POST', body: { username, password } });
  const first = await logIn('jane', passwordOf('jane'));
  t.equal(first.status, 200);
  const cookie = String(first.headers.get('set-cookie')).split(';', 1)[0]!;
  const { csrfToken } = JSON.parse(first.text) as { readonly csrfToken: string };
  t.equal((await logIn('jane', 'the-wrong-pass')).status, 401);
  t.equal((await logIn('typed-a-Passw0rd-here', 'x')).status, 401);
  t.equal((await send(server, widgets, { headers: basic('jane:the-wrong-pass') })).status, 401);
  t.equal((await send(server, widgets, { headers: { authorization: 'Bearer pat_unknown-token' } })).status, 401);
  t.equal((await send(server, widgets)).status, 401, 'a visitor');
  t.equal((await send(server, `${core('users')}/admin?secret=q`, { headers: as('jane') })).status, 403);
  const tokens = '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens';
  const made = await send(server, tokens, {
    method: 'POST',
    headers: as('jane'),
    body: { metadata: { name: 'ci' }, spec: {} },
  });
  const { token } = (JSON.parse(made.text) as { readonly status: { readonly token: string } }).status;
  t.equal((await send(server, core('users'), { headers: { authorization: `Bearer ${token}` } })).status, 403);
  const out = await send(server, '/logout', { method: 'POST', headers: { cookie, 'x-csrf-token': csrfToken } });
  t.equal(out.status, 204);

  const events = await untilEntry(logs[0]!, ({ kind }) => kind === 'logout');
  const found = events.flatMap(entriesOf).map(({ time: _time, requestId: _id, ...entry }) => entry);
  const address = '127.0.0.1';
  t.strictSame(found, [
    { kind: 'login', address, user: 'jane' },
    { kind: 'login-failed', address, user: 'jane' },
    { kind: 'login-failed', address, isUnknownUser: true },
    { kind: 'login-failed', address, user: 'jane' },
    { kind: 'unauthorized', address },
    { kind: 'unauthorized', address },
    { kind: 'forbidden', address, user: 'jane', verb: 'get', path: `${core('users')}/admin` },
    { kind: 'forbidden', address, user: 'jane', token: 'ci', verb: 'list', path: core('users') },
    { kind: 'logout', address, user: 'jane' },
  ]);
  t.equal(events.flatMap(entriesOf)[0]?.requestId, first.headers.get('x-request-id'));
  t.equal(new Set(events.map(({ stream }) => stream)).size, 1);
  t.match(decodeMetadata(events[0]!), { actor: 'system:access', verb: 'create' });
  const stored = Buffer.concat(events.flatMap(({ data, metadata }) => [data, metadata])).toString('utf8');
  for (const secret of [
    passwordOf('jane'),
    testPassword,
    'the-wrong-pass',
    'typed-a-Passw0rd',
    token,
    cookie,
    csrfToken,
  ])
    t.notOk(stored.includes(secret), secret.slice(0, 10));

  const metrics = await (await server.call('/metrics')).text();
  t.match(metrics, /^ledgerplane_accesses_total\{kind="login-failed"\} 3$/mu);
  t.match(metrics, /^ledgerplane_accesses_omitted_total 0$/mu);
  const watched = await send(
    server,
    `${widgets}?watch=true&resourceVersion=${before.metadata.resourceVersion}&timeoutSeconds=1`,
    {
      headers: { authorization: `Basic ${Buffer.from(`admin:${testPassword}`).toString('base64')}` },
    },
  );
  t.strictSame(
    [watched.status, watched.text.trim()],
    [200, ''],
    'positions of lists go on, and watches have no change',
  );
});

test('log-ins at the identity provider are in the log like those with a password', async (t) => {
  const provider = await startProvider(t);
  const { server, logs } = await opened(t, {
    ACCESS_EVENTS: 'on',
    OIDC_ISSUER: provider.url,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    // Without the console, a browser gets the status of a failure.
    CONSOLE: 'off',
  });
  const browser = new Browser();
  const callback = async () =>
    locationOf(await browser.visit(locationOf(await browser.visit(`${server.url}/login/oidc`))));
  t.equal((await browser.visit(`${server.url}/login/oidc/callback?state=x&code=secret-code`)).status, 400);
  provider.behaviour.denies = 'access_denied';
  t.equal((await browser.visit(await callback())).status, 401);
  provider.behaviour.denies = undefined;
  provider.behaviour.token = 'status';
  t.equal((await browser.visit(await callback())).status, 503, 'not the fault of a user');
  provider.behaviour.token = undefined;
  t.equal((await browser.visit(await callback())).status, 303);
  const events = await untilEntry(logs[0]!, ({ kind }) => kind === 'login');
  const address = '127.0.0.1';
  t.strictSame(
    events.flatMap(entriesOf).map(({ time: _time, requestId: _id, ...entry }) => entry),
    [
      { kind: 'login-failed', address, isUnknownUser: true },
      { kind: 'login-failed', address, isUnknownUser: true },
      { kind: 'login', address, user: 'oidc:jane' },
    ],
  );
  t.notMatch(Buffer.concat(events.map(({ data }) => data)).toString(), /secret-code/u);
});

test('a stop writes what is left, and the next start has a stream of its own', async (t) => {
  const { server, logs } = await opened(t, { ACCESS_EVENTS: 'on' });
  const refuse = async (on: TestServer): Promise<void> => {
    t.equal((await send(on, widgets)).status, 401);
  };
  await refuse(server);
  await untilEntry(logs[0]!, ({ kind }) => kind === 'unauthorized');
  await refuse(server);
  const again = await server.restart();
  t.teardown(async () => again.close());
  await refuse(again);
  const isOfNow = ({ time }: AccessEntry): boolean => time >= begun;
  const begun = new Date().toISOString();
  await refuse(again);
  const events = await untilEntry(logs[1]!, isOfNow);
  const counts = new Map<string, number>();
  for (const recorded of events)
    counts.set(recorded.stream, (counts.get(recorded.stream) ?? 0) + entriesOf(recorded).length);
  t.strictSame([...counts.values()], [2, 2]);
});

test('without the setting nothing is recorded', async (t) => {
  const { server } = await opened(t, { ACCESS_EVENTS: 'off' });
  t.equal((await send(server, widgets)).status, 401);
  t.notMatch(await (await server.call('/metrics')).text(), /^ledgerplane_accesses/mu);
});

test('objects are read as of a log-in, after which nothing was written', async (t) => {
  const { server, logs } = await opened(t, { ACCESS_EVENTS: 'on' });
  const body = { metadata: { name: 'lamp' }, spec: { title: 'Lamp' } };
  await send(server, widgets, { method: 'POST', headers: basic(`admin:${testPassword}`), body });
  t.equal((await send(server, widgets)).status, 401);
  const events = await untilEntry(logs[0]!, ({ kind }) => kind === 'unauthorized');
  const position = String(events.at(-1)?.position);
  const lamp = `${widgets}/lamp`;
  for (const path of [
    `${lamp}?at=${position}`,
    `${lamp}?at=${new Date().toISOString()}`,
    `${widgets}?at=${position}&limit=1`,
    `${lamp}?resourceVersion=${position}`,
    `${lamp}/history?resourceVersion=${position}`,
  ]) {
    const answer = await send(server, path, { headers: basic(`admin:${testPassword}`) });
    t.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 200)}`);
  }
  const beyond = `${lamp}?resourceVersion=${String(Number(position) + 1_000)}`;
  t.equal((await send(server, beyond, { headers: basic(`admin:${testPassword}`) })).status, 504);
});
