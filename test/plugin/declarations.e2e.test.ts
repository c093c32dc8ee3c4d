/**
 * What types are declared as, over the life of a plugin on a real server: edited, rolled back, stopped, started again.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';

import t, { test } from 'tap';

import { decodeEvent } from '../../src/log/event-codec.ts';
import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { logStart } from '../../src/log/log.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { temporaryFolder, writePlugins } from './host/host-stage.ts';

t.setTimeout(120_000);
const goods = '/apis/goods.example/v1/goods';
const manifest = (version: string): string =>
  'apiVersion: plugin.svc.run/v1alpha1\nkind: Plugin\nmetadata: {name: good}\n' +
  `spec: {version: ${version}, main: main.mjs}\n`;
const main = (
  unique: boolean,
): string => `export default { types: [{ group: 'goods.example', version: 'v1', kind: 'Goods', singular: 'good',
  plural: 'goods',
  schema: { type: 'object', properties: { spec: { type: 'object' } } }, indexes: [{ name: 'spec.color',
    unique: ${String(unique)} }] }] };\n`;

/** As the log says, in order. */
async function declaredIn(dataDir: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const log = await openLmdbLog({
    dir: join(dataDir, 'log'),
    onFatal: (error) => {
      throw error;
    },
  });
  const declared = new Map<string, readonly string[]>();
  for await (const batch of log.readAll({ after: logStart, categories: ['type'] })) {
    for (const recorded of batch) {
      const { event } = decodeEvent(recorded);
      if (event.type === 'TypeDeclared')
        declared.set(recorded.stream, [
          ...(declared.get(recorded.stream) ?? []),
          `${event.plugin} ${event.version} ${event.unique.map(({ index }) => index).join()}`,
        ]);
    }
  }
  await log.close();
  return declared;
}

async function untilVersion(server: TestServer, version: string): Promise<void> {
  for (;;) {
    const { status } = (await (await server.call('/apis/plugin.svc.run/v1alpha1/plugins/good')).json()) as {
      readonly status?: { readonly phase: string; readonly version?: string };
    };
    if (status?.phase === 'started' && status.version === version) return;
    await passes(10);
  }
}

test('an index that becomes plain and unique again is enforced, each change declared before a write', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, { good: { 'plugin.yaml': manifest('1.0.0'), 'main.mjs': main(true) } });
  const first = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  const write = async (server: TestServer, name: string, color: string): Promise<number> =>
    (await server.call(goods, { method: 'POST', body: { metadata: { name }, spec: { color } } })).status;
  const edit = async (version: string, unique: boolean): Promise<void> => {
    await writeFile(join(root, 'good', 'main.mjs'), main(unique));
    await writeFile(join(root, 'good', 'plugin.yaml'), manifest(version));
    await untilVersion(first, version);
  };
  t.equal(await write(first, 'a', 'red'), 201);
  await edit('1.1.0', false);
  t.equal(
    (
      await first.call(`${goods}/a`, {
        method: 'PATCH',
        body: { spec: { size: 1 } },
        headers: { 'content-type': 'application/merge-patch+json' },
      })
    ).status,
    200,
  );
  t.equal(await write(first, 'b', 'blue'), 201);
  await edit('1.2.0', true);
  t.equal(await write(first, 'c', 'red'), 409);
  t.equal(await write(first, 'c', 'blue'), 409);
  await edit('1.0.5', true);
  t.equal(await write(first, 'c', 'green'), 201, 'a server that is alone goes back to an older folder');
  const second = await first.restart();
  t.equal(await write(second, 'd', 'green'), 409);
  t.equal(await write(second, 'd', 'white'), 201);
  await second.close();
  const declared = await declaredIn(second.dataDir);
  // Files are saved one by one, so a half-saved state may be declared in between.
  const expected = ['good 1.0.0 spec.color', 'good 1.1.0 ', 'good 1.2.0 spec.color', 'good 1.0.5 spec.color'];
  const goodsDeclared = declared.get('type:goods.goods.example') ?? [];
  t.same(
    goodsDeclared.filter((text, index) => expected.includes(text) && goodsDeclared.indexOf(text) === index),
    expected,
  );
  for (const type of ['users', 'roles', 'rolebindings', 'sessions', 'plugins.plugin.svc.run'])
    t.equal(declared.get(`type:${type}`)?.length, 1, `${type}, once`);
  await second.remove();
});

type Condition = { readonly type: string; readonly reason: string; readonly message: string };

/** Once it is there, or has gone. */
async function condition(server: TestServer, isThere: boolean): Promise<Condition | undefined> {
  for (;;) {
    const { status } = (await (await server.call('/apis/plugin.svc.run/v1alpha1/plugins/good')).json()) as {
      readonly status?: { readonly conditions?: readonly Condition[] };
    };
    const found = status?.conditions?.find(({ type }) => type === 'UniqueNotEnforced');
    if ((found !== undefined) === isThere) return found;
    await passes(10);
  }
}

test('the Plugin names objects that share a value of a newly unique index, until one changes its value', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, { good: { 'plugin.yaml': manifest('1.0.0'), 'main.mjs': main(false) } });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  for (const [name, color] of [
    ['a', 'red'],
    ['b', 'red'],
    ['c', 'blue'],
  ]) {
    t.equal((await server.call(goods, { method: 'POST', body: { metadata: { name }, spec: { color } } })).status, 201);
  }
  await writeFile(join(root, 'good', 'main.mjs'), main(true));
  await writeFile(join(root, 'good', 'plugin.yaml'), manifest('1.1.0'));
  await untilVersion(server, '1.1.0');
  t.match(await condition(server, true), {
    reason: 'DuplicateValues',
    message: new RegExp(
      String.raw`^goods\.goods\.example spec\.color: claiming, (?:a has the same spec\.color as b|b has the ` +
        String.raw`same spec\.color as a)$`,
      'u',
    ),
  });
  const read = async (name: string): Promise<{ readonly metadata: { readonly version: number } }> =>
    (await (await server.call(`${goods}/${name}`)).json()) as never;
  t.equal((await read('c')).metadata.version, 1, 'it is rewritten as it was');
  t.equal((await server.call(`${goods}/b`, { method: 'DELETE' })).status, 200, 'also one that holds no claim can go');
  await condition(server, false);
  t.equal((await read('a')).metadata.version, 1);
  const second = await server.restart();
  t.equal(
    (await second.call(goods, { method: 'POST', body: { metadata: { name: 'd' }, spec: { color: 'red' } } })).status,
    409,
  );
  t.equal((await second.call(`${goods}/a`)).status, 200);
  await condition(second, false);
  await second.remove();
});
