import { test } from 'tap';
import type { Test } from 'tap';

import { problems } from '../../src/http/problem.ts';
import { authorizePlugin, createClient, type ClientBinding } from '../../src/plugin/client.ts';
import type { Client, PluginObject } from '../../src/plugin/api/plugin.ts';
import { manifestYaml, moduleText, openStage, temporaryFolder, writePlugins, type Stage } from './host/host-stage.ts';

const goods = { group: 'goods.example', version: 'v1', plural: 'goods' };
const roles = { group: '', version: 'v1alpha1', plural: 'roles' };
const missing = { ...goods, plural: 'others' };

async function staged(t: Test): Promise<Stage> {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    good: { 'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }), 'main.mjs': moduleText('goods') },
  });
  return openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
}

function clientOf({ registry, reader, execute }: Stage, authorize: ClientBinding['authorize']): Client {
  return createClient(
    { registry, reader, execute, refusalOf: (reason) => problems[reason] },
    { authorize, subject: { kind: 'plugin', name: 'good' }, cause: () => ({ requestId: 'r1', plugin: 'good' }) },
  );
}

test("a plugin's own client does on its types the same as the API", async (t) => {
  const stage = await staged(t);
  const client = clientOf(stage, authorizePlugin(stage.registry, 'good'));
  const made = await client.create(goods, {
    metadata: { name: 'a', labels: { 'example.com/x': '1' } },
    spec: { color: 'red' },
  });
  t.match(made, {
    apiVersion: 'goods.example/v1',
    kind: 'Goods',
    metadata: { name: 'a', version: 0 },
    spec: { color: 'red' },
  });
  t.same(await client.get(goods, 'a'), made);
  t.equal(await client.get(goods, 'nobody'), undefined);
  const updated = await client.update(goods, { ...made, spec: { color: 'green' } });
  t.match(updated, { metadata: { version: 1 }, spec: { color: 'green' } });
  const patched = await client.patch<PluginObject<{ color?: string; size?: number }>>(goods, 'a', {
    spec: { color: null, size: 3 },
  });
  t.same(patched.spec, { size: 3 });
  const { resourceVersion } = patched.metadata;
  const removed = await client.delete(goods, 'a', { uid: patched.metadata.uid, resourceVersion });
  t.match(removed, { metadata: { name: 'a', version: 4, deletionTimestamp: String } });
  t.equal(await client.get(goods, 'a'), undefined);
  await stage.close();
});

test('lists take selectors, sorts and pages', async (t) => {
  const stage = await staged(t);
  const client = clientOf(stage, authorizePlugin(stage.registry, 'good'));
  for (const [name, color] of [
    ['a', 'red'],
    ['b', 'green'],
    ['c', 'red'],
  ] as const)
    await client.create(goods, { metadata: { name, labels: { 'example.com/name': name } }, spec: { color } });
  const named = async (query: Parameters<Client['list']>[1]): Promise<readonly string[]> =>
    (await client.list(goods, query)).items.map(({ metadata }) => metadata.name);
  t.same(await named({ sort: 'metadata.name,asc' }), ['a', 'b', 'c']);
  t.same(await named({ fieldSelector: 'spec.color=red', sort: ['spec.color', 'metadata.name,desc'] }), ['c', 'a']);
  t.same(await named({ labelSelector: 'example.com/name in (a,b)', sort: 'metadata.name,asc' }), ['a', 'b']);
  t.same(
    await named({
      labelSelector: ['example.com/name in (a,b)', 'example.com/name!=a'],
      fieldSelector: ['spec.color=green', 'metadata.name=b'],
    }),
    ['b'],
  );
  const page = await client.list(goods, { sort: 'metadata.name,asc', page: 2, size: 2 });
  t.match({ total: page.total, names: page.items.map(({ metadata }) => metadata.name) }, { total: 3, names: ['c'] });
  t.match(page.resourceVersion, /^\d+$/);
  await client.create(goods, { metadata: { name: 'd' } });
  t.same(await named({ sort: ['spec.color,asc', 'metadata.name'] }), ['b', 'a', 'c', 'd']);
  t.same(await named({ sort: ['spec.color,asc,nulls=first', 'metadata.name'] }), ['d', 'b', 'a', 'c']);
  t.same(await named({ sort: ['spec.color,desc,nulls=last', 'metadata.name'] }), ['a', 'c', 'b', 'd']);
  await stage.close();
});

test("refusals reject with the edge's word and status", async (t) => {
  const stage = await staged(t);
  const client = clientOf(stage, authorizePlugin(stage.registry, 'good'));
  await client.create(goods, { metadata: { name: 'a' } });
  const table: readonly (readonly [() => Promise<unknown>, number, string])[] = [
    [async () => client.create(goods, { metadata: { name: 'a' } }), 409, 'AlreadyExists'],
    [async () => client.create(goods, { metadata: { name: 'A' } }), 422, 'Invalid'],
    [async () => client.create(goods, { metadata: { name: 'b', labels: { plain: '1' } } }), 422, 'Invalid'],
    [async () => client.create(goods, { kind: 'Bads', metadata: { name: 'b' } }), 400, 'BadRequest'],
    [async () => client.update(goods, { metadata: {} }), 400, 'BadRequest'],
    [
      async () => client.update(goods, { apiVersion: 'goods.example/v1', kind: 'Goods', metadata: { name: 'b' } }),
      404,
      'NotFound',
    ],
    [async () => client.patch(goods, 'a', { metadata: { version: 7 } }), 409, 'Conflict'],
    [async () => client.patch(goods, 'a', { spec: {} }, { resourceVersion: '0' }), 409, 'Conflict'],
    [
      async () =>
        client.update(
          goods,
          { apiVersion: 'goods.example/v1', kind: 'Goods', metadata: { name: 'a' } },
          { uid: 'other' },
        ),
      409,
      'Conflict',
    ],
    [async () => client.delete(goods, 'a', { uid: 'other' }), 409, 'Conflict'],
    [async () => client.delete(goods, 'a', { resourceVersion: 1 as never }), 400, 'BadRequest'],
    [async () => client.delete(goods, 'b'), 404, 'NotFound'],
    [async () => client.list(goods, { fieldSelector: 'spec.other=1' }), 400, 'BadRequest'],
    [async () => client.list(goods, { labelSelector: '((' }), 400, 'BadRequest'],
    [async () => client.list(goods, { sort: 'spec.other' }), 400, 'BadRequest'],
    [async () => client.list(goods, { page: -1 }), 400, 'BadRequest'],
    [async () => client.list(goods, { size: 0.5 }), 400, 'BadRequest'],
    [async () => client.get(roles, 'a'), 403, 'Forbidden'],
    [async () => client.create(roles, { metadata: { name: 'a' }, rules: [] }), 403, 'Forbidden'],
    [async () => client.get(missing, 'a'), 403, 'Forbidden'],
  ];
  for (const [call, status, reason] of table) await t.rejects(call(), { name: 'ClientError', status, reason });
  await t.rejects(client.create(goods, { metadata: { name: 'b', labels: { plain: '1' } } }), {
    errors: [{ pointer: '/metadata/labels/plain', detail: String }],
  });
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  await t.rejects(client.create(goods, circular), { name: 'ClientError', status: 400 });
  await stage.close();
});

test('patchStatus alone writes a status, on the version it was read from', async (t) => {
  const root = await temporaryFolder(t);
  const kept = { ...goods, group: 'kept.example', plural: 'kept' };
  await writePlugins(root, {
    good: { 'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }), 'main.mjs': moduleText('goods') },
    kept: {
      'plugin.yaml': manifestYaml('kept', { main: 'main.mjs' }),
      'main.mjs': moduleText('kept').replace('indexes:', 'statusSubresource: true, indexes:'),
    },
  });
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  const asked: string[] = [];
  const client = clientOf(stage, (request) => {
    asked.push(`${request.verb} ${request.path}`);
    return request.name === 'forbidden' ? { allowed: false, reason: 'not you' } : { allowed: true };
  });
  const made = await client.create(kept, {
    metadata: { name: 'a' },
    spec: { color: 'red' },
    status: { phase: 'claimed' },
  });
  t.equal(made['status'], undefined, 'nobody is born with one');
  const patched = await client.patchStatus(
    kept,
    'a',
    { status: { phase: 'ready', seen: 1 }, spec: { color: 'green' } },
    { resourceVersion: made.metadata.resourceVersion },
  );
  t.match(patched, {
    metadata: { version: 1, generation: 1 },
    spec: { color: 'red' },
    status: { phase: 'ready', seen: 1 },
  });
  t.same(
    (await client.patchStatus(kept, 'a', { status: { seen: null } }))['status'],
    { phase: 'ready' },
    'a merge patch',
  );
  const last = await client.patch(kept, 'a', { spec: { color: 'blue' }, status: { phase: 'lost' } });
  t.match(last, { metadata: { version: 3, generation: 2 }, spec: { color: 'blue' }, status: { phase: 'ready' } });
  t.match(
    await client.patchStatus(kept, 'a', { status: { phase: 'ready' } }),
    { metadata: { version: 3 } },
    'an equal status is not written',
  );
  t.same(asked, [
    'create /apis/kept.example/v1/kept',
    ...['/status', '/status', '', '/status'].map((part) => `patch /apis/kept.example/v1/kept/a${part}`),
  ]);

  const table: readonly (readonly [() => Promise<unknown>, number, string])[] = [
    [
      async () =>
        client.patchStatus(
          kept,
          'a',
          { status: { phase: 'late' } },
          { resourceVersion: patched.metadata.resourceVersion },
        ),
      409,
      'Conflict',
    ],
    [async () => client.patchStatus(kept, 'a', { status: { phase: 'late' } }, { uid: 'other' }), 409, 'Conflict'],
    [async () => client.patchStatus(kept, 'nobody', { status: {} }), 404, 'NotFound'],
    [async () => client.patchStatus(kept, 'forbidden', { status: {} }), 403, 'Forbidden'],
    [async () => client.patchStatus(goods, 'a', { status: {} }), 400, 'BadRequest'],
  ];
  for (const [call, status, reason] of table) await t.rejects(call(), { name: 'ClientError', status, reason });
  await t.rejects(client.patchStatus(goods, 'a', { status: {} }), {
    message: /goods\.goods\.example has no status subresource/u,
  });
  t.same(await client.get(kept, 'a'), last, 'a refused write changes nothing');
  await stage.close();
});

test("a caller's client has the caller's rights, request by request", async (t) => {
  const stage = await staged(t);
  const asked: string[] = [];
  const client = clientOf(stage, ({ verb, path }) => {
    asked.push(`${verb} ${path}`);
    return verb === 'delete' ? { allowed: false, reason: 'not you' } : { allowed: true };
  });
  await client.create(roles, { metadata: { name: 'r' }, rules: [] });
  await client.list(roles);
  await client.get(goods, 'x');
  await t.rejects(client.delete(roles, 'r'), { name: 'ClientError', status: 403, message: 'not you' });
  await t.rejects(client.get(missing, 'x'), { name: 'ClientError', status: 404 });
  t.same(asked, [
    'create /api/v1alpha1/roles',
    'list /api/v1alpha1/roles',
    'get /apis/goods.example/v1/goods/x',
    'delete /api/v1alpha1/roles/r',
    'get /apis/goods.example/v1/others/x',
  ]);
  await stage.setEnabled('good', false);
  await t.rejects(client.get(goods, 'x'), { name: 'ClientError', status: 404 });
  await stage.close();
});

test('a list that does not fit into memory is refused', async (t) => {
  const stage = await staged(t);
  const bytes = Buffer.alloc(8 * 1_048_576, ' ');
  async function* slices(): AsyncGenerator<Uint8Array> {
    for (let count = 0; count < 1_000; count += 1) yield bytes;
  }
  const reader = new Proxy(stage.reader, {
    get: (target, member) =>
      member === 'list' ? () => ({ items: slices, total: 1_000, position: 1n }) : Reflect.get(target, member),
  });
  await t.rejects(clientOf({ ...stage, reader }, authorizePlugin(stage.registry, 'good')).list(goods), {
    name: 'ClientError',
    status: 400,
    message: /smaller pages/,
  });
  await stage.close();
});
