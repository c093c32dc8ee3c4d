/** Over HTTP, on a real server: an earlier state of an object becomes its present one. */
import t, { test, type Test } from 'tap';

import { Administration, as, core, passwordOf } from '../support/server/administration.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';

t.setTimeout(280_000);

const widgets = '/apis/example.com/v1alpha1/widgets';
const lamp = `${widgets}/lamp`;
const merge = { 'content-type': 'application/merge-patch+json' };

type Shown = {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly version: number;
    readonly uid: string;
    readonly labels?: unknown;
    readonly annotations?: unknown;
    readonly finalizers?: unknown;
  };
  readonly spec: unknown;
  readonly status?: unknown;
};

async function given(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  return server;
}

async function write(server: TestServer, method: string, path: string, body?: unknown): Promise<Shown> {
  const answer = await server.call(path, { method, body, ...(method === 'PATCH' ? { headers: merge } : {}) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as Shown;
}

const restoring = (of: Shown, path = lamp): string => `${path}/restore?at=${of.metadata.resourceVersion}`;

/** A lamp, and then with other labels, title, status and a finalizer. */
async function changedLamp(server: TestServer): Promise<readonly [first: Shown, last: Shown]> {
  const metadata = { name: 'lamp', labels: { tier: 'web' }, annotations: { 'example.com/note': 'first' } };
  const first = await write(server, 'POST', widgets, { metadata, spec: { title: 'one', size: 3 } });
  const next = { labels: { tier: null, other: 'x' }, annotations: null, finalizers: ['example.com/keep'] };
  await write(server, 'PATCH', lamp, { metadata: next, spec: { title: 'two', size: null } });
  return [first, await write(server, 'PATCH', `${lamp}/status`, { status: { phase: 'lit' } })];
}

test('labels, annotations and spec come back; finalizers and status stay', async (t) => {
  const server = await given(t);
  const [first, last] = await changedLamp(server);
  const tried = await write(server, 'POST', `${restoring(first)}&dryRun=All`);
  t.match(tried, { spec: first.spec });
  t.equal((await write(server, 'GET', lamp)).metadata.version, last.metadata.version, 'a dry run writes nothing');
  const restored = await write(server, 'POST', restoring(first));
  t.strictSame(restored.spec, first.spec);
  t.strictSame(restored.metadata.labels, first.metadata.labels);
  t.strictSame(restored.metadata.annotations, first.metadata.annotations);
  t.strictSame(restored.metadata.finalizers, ['example.com/keep']);
  t.strictSame(restored.status, last.status);
  t.equal(restored.metadata.uid, first.metadata.uid);
  t.equal(restored.metadata.version, last.metadata.version + 1);
  const again = await write(server, 'POST', restoring(first));
  t.equal(again.metadata.resourceVersion, restored.metadata.resourceVersion, 'nothing changes: no event');
  const history = await (await server.call(`${lamp}/history?sort=position,desc&limit=1`)).json();
  t.match(history, {
    items: [{ event: 'ObjectUpdated', verb: 'restore', actor: 'admin', restoredFrom: first.metadata.resourceVersion }],
  });
  const events = '/apis/audit.svc.run/v1alpha1/events?fieldSelector=verb=restore';
  t.match(await (await server.call(events)).json(), { items: [{ restoredFrom: first.metadata.resourceVersion }] });
});

test('a deleted object is created again with a new uid', async (t) => {
  const server = await given(t);
  const made = await write(server, 'POST', widgets, { metadata: { name: 'lamp' }, spec: { title: 'one' } });
  await write(server, 'DELETE', lamp);
  const answer = await server.call(restoring(made), { method: 'POST' });
  t.equal(answer.status, 201);
  t.equal(answer.headers.get('location'), lamp);
  const restored = (await answer.json()) as Shown;
  t.strictSame(restored.spec, made.spec);
  t.not(restored.metadata.uid, made.metadata.uid);
  t.match(await (await server.call(`${lamp}/history?sort=position,desc&limit=1`)).json(), {
    items: [{ event: 'ObjectCreated', verb: 'restore', restoredFrom: made.metadata.resourceVersion }],
  });
});

test('a password stays, and a user that is made again has none', async (t) => {
  const server = await given(t);
  const administration = new Administration(server.url);
  await administration.user('jane');
  const jane = core('users', 'jane');
  const first = await write(server, 'GET', jane);
  const password = 'another passphrase of jane';
  await write(server, 'PATCH', jane, { spec: { displayName: 'Jane', password } });
  await write(server, 'POST', restoring(first, jane));
  const own = '/apis/uc.api.svc.run/v1alpha1/users/-';
  const present = { authorization: `Basic ${Buffer.from(`jane:${password}`).toString('base64')}` };
  t.equal((await server.call(own, { headers: present })).status, 200, 'the present password counts');
  t.equal((await server.call(own, { headers: as('jane') })).status, 401, 'that of the restored state does not');
  await write(server, 'DELETE', jane);
  while ((await server.call(jane)).status !== 404) await new Promise(setImmediate);
  await write(server, 'POST', restoring(first, jane));
  for (const headers of [present, as('jane')]) t.equal((await server.call(own, { headers })).status, 401);
  t.ok(passwordOf('jane'));
});

test('bad restores are refused, and nothing is written', async (t) => {
  const server = await given(t);
  const [first, last] = await changedLamp(server);
  const path = `${lamp}/restore`;
  const at = first.metadata.resourceVersion;
  const before = String(BigInt(at) - 1n);
  type Call = readonly [
    query: string,
    status: number,
    init?: { readonly headers?: Record<string, string>; readonly body?: unknown },
  ];
  const calls: readonly Call[] = [
    ['', 400],
    ['?at=', 400],
    ['?at=never', 400],
    ['?at=99999999', 400],
    ['?at=0', 400],
    ['?at=99999999999999999999999', 410],
    [`?at=${at}&dryrun=All`, 400],
    [`?at=${at}`, 400, { body: { spec: {} } }],
    [`?at=${at}`, 412, { headers: { 'if-match': '"0"' } }],
    [`?at=${before}`, 404],
  ];
  for (const [query, status, init = {}] of calls)
    t.equal((await server.call(`${path}${query}`, { method: 'POST', ...init })).status, status, query);
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    t.equal((await server.call(`${path}?at=${at}`, { method, body })).status, 405, method);
  }
  t.equal((await server.call(`${widgets}/never/restore?at=${at}`, { method: 'POST' })).status, 404);
  const gone = { method: 'POST', headers: { 'if-match': '*' } };
  t.equal((await server.call(`${widgets}/never/restore?at=${at}`, gone)).status, 412);
  t.equal((await write(server, 'GET', lamp)).metadata.version, last.metadata.version);
});

test('a restore needs create of the subresource, and update or create of the object', async (t) => {
  const server = await given(t);
  const made = await write(server, 'POST', widgets, { metadata: { name: 'lamp' }, spec: { title: 'one' } });
  await write(server, 'PATCH', lamp, { spec: { title: 'two' } });
  const administration = new Administration(server.url);
  await administration.user('joe');
  const rule = (resources: readonly string[], verbs: readonly string[]) => ({
    apiGroups: ['example.com'],
    resources,
    verbs,
  });
  const rules = async (...all: readonly ReturnType<typeof rule>[]): Promise<void> => {
    await administration.merge('roles', 'restores', { rules: all });
  };
  await administration.call('POST', core('roles'), { metadata: { name: 'restores' }, rules: [] });
  await administration.bind('joe-restores', 'restores', 'joe');
  const restore = async (): Promise<number> =>
    (await server.call(restoring(made), { method: 'POST', headers: as('joe') })).status;
  t.equal(await restore(), 403);
  await rules(rule(['widgets'], ['update', 'create']));
  t.equal(await restore(), 403);
  await rules(rule(['widgets/restore'], ['create']));
  t.equal(await restore(), 403);
  await rules(rule(['widgets/restore'], ['create']), rule(['widgets'], ['update']));
  t.equal(await restore(), 200);
  await write(server, 'DELETE', lamp);
  t.equal(await restore(), 403, 'the object is gone: update does not suffice');
  await rules(rule(['widgets/restore'], ['create']), rule(['widgets'], ['create']));
  t.equal(await restore(), 201);
});

test('the bundled roles that manage objects include restores', async (t) => {
  const server = await given(t);
  const made = await write(server, 'POST', widgets, { metadata: { name: 'lamp' }, spec: { title: 'one' } });
  await write(server, 'PATCH', lamp, { spec: { title: 'two' } });
  const administration = new Administration(server.url);
  for (const user of ['jane', 'joe']) await administration.user(user);
  const jane = core('users', 'jane');
  const first = await write(server, 'GET', jane);
  await write(server, 'PATCH', jane, { spec: { displayName: 'Jane' } });
  const roles = ['example-widgets-manage', 'role-template-manage-users'];
  for (const role of roles) await administration.bind(`joe-${role}`, role, 'joe');
  for (const path of [restoring(made), restoring(first, jane)]) {
    const answer = await server.call(path, { method: 'POST', headers: as('joe') });
    t.match({ status: answer.status, body: await answer.json() }, { status: 200 }, path);
  }
});
