import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type Test } from 'tap';

import { manifestYaml, moduleText, temporaryFolder, writePlugins } from '../plugin/host/host-stage.ts';
import { Administration, as, type Rule } from '../support/server/administration.ts';
import { ask, type Asked } from '../support/ask.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { Watching } from '../support/watching.ts';

type Route = ReturnType<TestServer['routes']>[number];

/** One request for a route, and the one rule that allows it. */
type Call = Asked & { readonly what: string; readonly path: string; readonly rule: Rule };

const ordinary = 'ordinary';
const gateName = Symbol.for('ledgerplane test gate');

/** A route of every method: two of a generated API's level, and one deeper than resources go. */
const lateRoutes = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  .flatMap((method) =>
    ['/apis/api.late.example/v1/reports/{name}', '/apis/api.late.example/v1/deep/a/b/c/{name}'].map(
      (path) => `{ method: '${method}', path: '${path}', handler: () => ({ body: { served: true } }) }`,
    ),
  )
  .join(', ');

const plugins = {
  late: {
    'plugin.yaml': manifestYaml('late', { main: 'main.mjs', pluginDependencies: { gate: '*' } }),
    'main.mjs': moduleText('lates', { group: 'late.example', more: `routes: [${lateRoutes}]` }),
  },
  // Loading it waits for the test: what depends on it is announced meanwhile, and not started.
  gate: {
    'plugin.yaml': manifestYaml('gate', { main: 'main.mjs', enabled: false }),
    'main.mjs':
      `export default async () => { await globalThis[Symbol.for('${String(gateName.description)}')]?.(); return {}; ` +
      '};\n',
  },
};

/** Whatever is asked for, a body that is no JSON is refused before anything is written. */
const unreadable = '{';

/** Every way a route can be asked for: a read also as a watch, in all three transports. */
function callsOf({ method, pattern }: Route, _place: number, routes: readonly Route[]): readonly Call[] {
  const collection = pattern.replace(/\/\{name\}$/u, '');
  // What types serve can be watched, and the events of the log; of anything else a watch is a read.
  const isType = ['POST', 'DELETE'].every((write) =>
    routes.some((route) => route.method === write && route.pattern === collection),
  );
  const isWatchable = isType || pattern === '/apis/audit.svc.run/v1alpha1/events';
  const path = pattern.replaceAll(/\{\w+\}/gu, 'sample');
  const call = (asked: Asked, watches: boolean, query = ''): Call => ({
    ...asked,
    method,
    headOnly: true,
    path: path + query,
    what: `${method} ${pattern}${query}${asked.upgrade === true ? ' upgrade' : (asked.headers?.['accept'] ?? '')}`,
    rule: ruleFor(method, path, watches && isWatchable),
  });
  if (method === 'HEAD') return [call({}, false)];
  if (method !== 'GET')
    return [
      call(
        {
          body: unreadable,
          headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
        },
        false,
      ),
    ];
  return [
    call({}, false),
    call({}, true, '?watch=true'),
    call({ headers: { accept: 'text/event-stream' } }, true),
    call({ upgrade: true }, true),
  ];
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

/** As decisions 6.1 to 6.4 say, and not by the server's own code. */
function ruleFor(method: string, path: string, watches: boolean): Rule {
  const [root, ...segments] = path.slice(1).split('/');
  const group = root === 'apis' ? (segments.shift() ?? '') : '';
  const [, resource, name, subresource, ...deeper] = segments;
  const isResource =
    (root === 'api' || root === 'apis') &&
    resource !== undefined &&
    deeper.length === 0 &&
    !(method === 'POST' && name !== undefined && subresource === undefined);
  const reads = method === 'GET' || method === 'HEAD';
  if (!isResource) return { nonResourceURLs: [path], verbs: [reads ? 'get' : (verbs[method] ?? 'delete')] };
  const read = watches && subresource === undefined ? 'watch' : name === undefined ? 'list' : 'get';
  const verb = reads ? read : (verbs[method] ?? (name === undefined ? 'deletecollection' : 'delete'));
  return {
    apiGroups: [group],
    resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
    verbs: [verb],
  };
}

const wrongCredentials: readonly Readonly<Record<string, string>>[] = [
  { authorization: `Bearer pat_${'0'.repeat(32)}_${'a'.repeat(43)}` },
  { authorization: 'Basic nonsense' },
  { authorization: '' },
  { cookie: `ledgerplane_session=ses_${'0'.repeat(32)}_${'a'.repeat(43)}` },
];

/** A right to a root of discovery includes the documents beneath it; otherwise one rule covers one kind of request. */
function allows(rule: Rule, { path, rule: needed }: Call): boolean {
  const [root = ''] = rule['nonResourceURLs'] ?? [];
  const isBeneath =
    (root === '/api' || root === '/apis') &&
    needed['nonResourceURLs'] !== undefined &&
    path.startsWith(`${root}/`) &&
    path.split('/').length <= 4;
  return isBeneath || JSON.stringify(rule) === JSON.stringify(needed);
}

async function statusOf(
  origin: string,
  { path, headers, ...call }: Call,
  credentials: Readonly<Record<string, string>> = {},
): Promise<number> {
  return (await ask(origin, path, { ...call, headers: { ...headers, ...credentials } })).status;
}

/** Nobody gets anywhere: all roles are empty. */
async function closed(t: Test, origin: string, calls: readonly Call[]): Promise<void> {
  const unlike: string[] = [];
  for (const call of calls) {
    for (const credentials of wrongCredentials) {
      // A log-in request may carry the cookie of an ended session; then the rule decides as for a visitor.
      const status = await statusOf(origin, call, credentials);
      if (status !== 401) unlike.push(`${call.what} with ${JSON.stringify(credentials)}: ${String(status)}`);
    }
    const [visitors, users] = [await statusOf(origin, call), await statusOf(origin, call, as(ordinary))];
    if (visitors !== 401 || users !== 403)
      unlike.push(`${call.what}: a visitor ${String(visitors)}, a user ${String(users)}`);
  }
  t.strictSame(
    unlike,
    [],
    `${String(calls.length)} requests, each refused to ${String(wrongCredentials.length)} wrong credentials, a ` +
      'visitor and a user',
  );
}

/** With the one rule, and with no other of these, a request gets through; and the next request on the list does not. */
async function opened(t: Test, origin: string, calls: readonly Call[], expected?: number): Promise<void> {
  const administration = new Administration(origin);
  const unlike: string[] = [];
  for (const [index, call] of calls.entries()) {
    await administration.merge('roles', 'one-rule', { rules: [call.rule] });
    const status = await statusOf(origin, call, as(ordinary));
    if (expected === undefined ? status === 401 || status === 403 || status >= 500 : status !== expected)
      unlike.push(`${call.what}: ${String(status)}, with ${JSON.stringify(call.rule)}`);
    const other = calls[(index + 1) % calls.length]!;
    const next = await statusOf(origin, other, as(ordinary));
    if (next !== 403 && !allows(call.rule, other))
      unlike.push(`${other.what}: ${String(next)}, with ${JSON.stringify(call.rule)}`);
  }
  await administration.merge('roles', 'one-rule', { rules: [] });
  t.strictSame(unlike, [], `${String(calls.length)} requests, each allowed by one rule`);
}

/** With the plugin `late` started: it waits for `gate`, which is off until somebody says otherwise. */
async function startWhole(plugged: string): Promise<TestServer> {
  const server = await startTestServer({ environment: { PLUGINS_DIRS: plugged } });
  const administration = new Administration(server.url);
  const started = await Watching.open(server.url, '/apis/plugin.svc.run/v1alpha1/plugins/late', {
    transport: 'json',
    headers: { authorization: `Basic ${Buffer.from('admin:correct horse battery staple').toString('base64')}` },
  });
  await administration.call('PATCH', '/apis/plugin.svc.run/v1alpha1/plugins/gate', { spec: { enabled: true } });
  await started.until(
    ({ events }) => (events.at(-1)?.object['status'] as { phase?: string } | undefined)?.phase === 'started',
  );
  started.leave();
  await administration.user(ordinary);
  await administration.role('one-rule');
  await administration.bind('ordinary-one-rule', 'one-rule', ordinary);
  await administration.emptyAllRoles();
  return server;
}

async function freePort(): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return String(port);
}

/**
 * Starts it again and holds it while `late` is announced and not started; read models that are gone keep `gate` from
 * being loaded before it listens.
 */
async function whileAnnounced(
  server: TestServer,
  plugged: string,
  during: (origin: string) => Promise<void>,
): Promise<TestServer> {
  await server.close();
  await rm(join(server.dataDir, 'read-models'), { recursive: true });
  const port = await freePort();
  let release: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    Object.assign(globalThis, {
      [gateName]: async () =>
        new Promise<void>((open) => {
          release = open;
          resolve();
        }),
    });
  });
  const starting = startTestServer({ environment: { PLUGINS_DIRS: plugged, PORT: port }, dataDir: server.dataDir });
  try {
    await Promise.race([reached, starting]);
    const origin = `http://127.0.0.1:${port}`;
    // Until `late` is announced whatever could be a plugin's is 503 to everybody, while `gate` is still being loaded.
    while ((await fetch(`${origin}/apis/late.example/v1/lates`)).status === 503) await nextTurn();
    await during(origin);
  } finally {
    Reflect.deleteProperty(globalThis, gateName);
    release();
  }
  return starting;
}

test('every route needs a valid credential and a rule that allows it, and is served with both', async (t) => {
  const plugged = await temporaryFolder(t);
  await writePlugins(plugged, plugins);
  let server = await startWhole(plugged);
  t.teardown(async () => server.remove());
  const calls = server.routes().flatMap(callsOf);
  const known = new Set(calls.map(({ what }) => what));
  for (const what of [
    'GET /healthz',
    'POST /login',
    'GET /metrics',
    'GET /api/v1alpha1/users upgrade',
    'PUT /apis/uc.api.svc.run/v1alpha1/users/-/password',
    'GET /apis/api.content.svc.run/v1alpha1/posts',
    'PATCH /apis/late.example/v1/lates/{name}',
    'POST /apis/api.late.example/v1/deep/a/b/c/{name}',
  ])
    t.ok(known.has(what), what);
  const isLogIn = ({ path }: Call): boolean => path === '/login';

  await t.test('closed', async (t) => closed(t, server.url, calls));
  await t.test('opened', async (t) =>
    opened(
      t,
      server.url,
      calls.filter((call) => !isLogIn(call)),
    ),
  );
  await t.test('an unknown route is refused like any other', async (t) =>
    closed(
      t,
      server.url,
      [
        { method: 'GET', pattern: '/' },
        { method: 'POST', pattern: '/nowhere' },
        { method: 'PURGE', pattern: '/api/v1alpha1/users' },
        { method: 'OPTIONS', pattern: '/login' },
      ].flatMap(callsOf),
    ),
  );
  await t.test('a log-in is open to visitors once a rule allows it', async (t) => {
    const [logIn] = calls.filter(isLogIn);
    await new Administration(server.url).merge('roles', 'anonymous', { rules: [logIn!.rule] });
    t.equal(await statusOf(server.url, logIn!), 400);
    await new Administration(server.url).merge('roles', 'anonymous', { rules: [] });
  });

  const late = calls.filter(({ path }) => path.includes('late.example') && path.split('/').length > 4);
  await t.test('while a plugin is announced and not started', async (t) => {
    t.ok(late.length > 20);
    server = await whileAnnounced(server, plugged, async (origin) => {
      await closed(t, origin, late);
      await opened(t, origin, late, 503);
    });
  });
  await t.test('and once it has started again', async (t) => closed(t, server.url, late));
});
