import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { startPlugin } from '../../src/sdk/testing.ts';
import { repository } from '../architecture/repository.ts';
import { manifestYaml, moduleText, temporaryFolder, writePlugins } from '../plugin/host/host-stage.ts';

const refused = (status: number, reason: string) => ({ name: 'ClientError', status, reason });
const goods = { group: 'goods.example', version: 'v1', plural: 'goods' };

/** A type of goods with what else `more` says, in a folder of its own. */
async function written(
  t: Test,
  {
    more = '',
    module = moduleText('goods', { more }),
    spec = {},
  }: { readonly more?: string; readonly module?: string; readonly spec?: object } = {},
): Promise<string> {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    good: {
      'plugin.yaml': manifestYaml('good', { main: 'main.mjs', ...spec }),
      'main.mjs': module,
      'extensions/roles.yaml':
        'apiVersion: v1alpha1\nkind: Role\nmetadata: {name: good-view, labels: {svc.run/role-template: "true"}}\n' +
        'rules: [{apiGroups: [goods.example], resources: [good/goods], verbs: [get, list]}]\n',
    },
  });
  return join(root, 'good');
}

test('a server runs with just that plugin, for an administrator, for users with roles and for visitors', async (t) => {
  const plugin = await startPlugin({ folder: await written(t) });
  t.teardown(() => plugin.stop());
  const all = await plugin.client.list({ group: 'plugin.svc.run', version: 'v1alpha1', plural: 'plugins' });
  t.same(
    all.items.map(({ metadata }) => metadata.name),
    ['good'],
  );
  t.match(await plugin.client.create(goods, { metadata: { name: 'a' }, spec: { color: 'red' } }), {
    metadata: { name: 'a' },
  });
  const ann = await plugin.as('ann', { roles: ['good-view'] });
  t.match(await ann.client.get(goods, 'a'), { spec: { color: 'red' } });
  await t.rejects(ann.client.delete(goods, 'a'), refused(403, 'Forbidden'));
  await plugin.as('ann');
  await t.rejects(
    ann.client.get(goods, 'a'),
    refused(403, 'Forbidden'),
    'requested again, the user has the new options',
  );
  await t.rejects(plugin.visitor.client.get(goods, 'a'), refused(401, 'Unauthorized'));
  t.equal((await plugin.fetch('/apis/goods.example/v1/goods/a')).status, 200);
  await plugin.settled();
});

test("its client does what a route's does", async (t) => {
  const { client, stop } = await startPlugin({ folder: await written(t) });
  t.teardown(stop);
  const made = await client.create(goods, { metadata: { name: 'a' }, spec: { color: 'red' } });
  t.equal(await client.get(goods, 'nobody'), undefined);
  t.match(await client.update(goods, { ...made, spec: { color: 'green' } }), { metadata: { version: 1 } });
  await t.rejects(
    client.update(
      goods,
      { metadata: { name: 'a' }, apiVersion: made.apiVersion, kind: made.kind },
      { resourceVersion: made.metadata.resourceVersion },
    ),
    refused(409, 'Conflict'),
  );
  await t.rejects(client.patch(goods, 'a', {}, { uid: 'other' }), refused(409, 'Conflict'));
  t.match(await client.patch(goods, 'a', { spec: { color: 'blue' } }), { spec: { color: 'blue' } });
  t.match(await client.list(goods, { fieldSelector: ['spec.color=blue', 'metadata.name=a'], size: 1 }), {
    total: 1,
    items: [{ metadata: { name: 'a' } }],
  });
  await t.rejects(client.delete(goods, 'a', { uid: 'other' }), refused(409, 'Conflict'));
  await t.rejects(client.create(goods, { metadata: { name: 'A' } }), {
    status: 422,
    errors: [{ pointer: '/metadata/name' }],
  });
  t.match(await client.delete(goods, 'a'), { metadata: { deletionTimestamp: String } });
});

test('a plugin that does not start is refused with its own reason', async (t) => {
  const failing = async (options: Parameters<typeof written>[1]) =>
    startPlugin({ folder: await written(t, options), logLevel: 'silent' });
  await t.rejects(failing({ module: 'throw new Error("boom");' }), /the plugin good is failed: ModuleFailed: .*boom/u);
  await t.rejects(
    failing({ spec: { pluginDependencies: { other: '*' } } }),
    /the plugin good is failed: DependencyMissing/u,
  );
  await t.rejects(failing({ spec: { enabled: false } }), /the plugin good is stopped/u);
  const root = await temporaryFolder(t);
  await writePlugins(root, { empty: { 'plugin.yaml': '[' } });
  await t.rejects(
    startPlugin({ folder: join(root, 'empty'), logLevel: 'silent' }),
    /the plugin empty is failed: ManifestUnreadable/u,
  );
  const before = (await readdir(tmpdir())).filter((name) => name.startsWith('ledgerplane-test-'));
  await t.rejects(failing({ module: 'throw new Error("boom");' }));
  t.same(
    (await readdir(tmpdir())).filter((name) => name.startsWith('ledgerplane-test-') && !before.includes(name)),
    [],
    'nothing is left behind',
  );
});

test("plugins that it depends on, and the platform's own, are there when they are asked for", async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, { other: { 'plugin.yaml': manifestYaml('other') } });
  const plugin = await startPlugin({
    folder: await written(t, { spec: { pluginDependencies: { other: '^1.0.0', content: '*' } } }),
    others: [join(root, 'other')],
    bundled: 'started',
    domain: 'platform.example',
  });
  t.teardown(() => plugin.stop());
  const all = await plugin.client.list(
    { group: 'plugin.platform.example', version: 'v1alpha1', plural: 'plugins' },
    { sort: 'metadata.name,asc' },
  );
  t.same(
    all.items.map(({ metadata }) => metadata.name),
    ['content', 'example', 'good', 'other'],
  );
});

test('a test that stops it leaves nothing that keeps the process, with node:test', async (t) => {
  const folder = await written(t);
  const text = `import { test } from 'node:test'; import assert from 'node:assert/strict';
    import { startPlugin } from ${JSON.stringify(new URL('../../src/sdk/testing.js', import.meta.url).href)};
    test('it runs', async (t) => { const plugin = await startPlugin({ folder: ${JSON.stringify(folder)} });
      t.after(() => plugin.stop()); await plugin.settled();
      assert.equal((await plugin.fetch('/apis/goods.example/v1/goods')).status, 200); });`;
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '--test-reporter=spec', '-e', text], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: repository,
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    shown += part;
  });
  const [code] = (await once(child, 'close')) as [number];
  t.equal(code, 0, shown);
  t.match(shown, /pass 1/u);
});

/** A version of the plugin `note`, whose notes have one text under the name `member`. */
async function note(t: Test, version: string, member: string, migrations = ''): Promise<string> {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    note: {
      'plugin.yaml': manifestYaml('note', { main: 'main.mjs', version }),
      'main.mjs': `const type = { group: 'note.example', version: 'v1', plural: 'notes' };
        export default {
          types: [{ ...type, kind: 'Note', singular: 'note', schema: { type: 'object', properties: { spec: {
            type: 'object', required: ['${member}'], additionalProperties: false,
            properties: { ${member}: { type: 'string' } } } } } }],
          migrations: [${migrations}],
        };`,
    },
  });
  return join(root, 'note');
}

test('an upgrade of a filled plugin is tested: it migrates every object, or rejects with what is left', async (t) => {
  const notes = { group: 'note.example', version: 'v1', plural: 'notes' };
  const plugin = await startPlugin({ folder: await note(t, '1.0.0', 'text') });
  t.teardown(() => plugin.stop());
  for (const name of ['a', 'b']) await plugin.client.create(notes, { metadata: { name }, spec: { text: name } });
  await t.rejects(plugin.upgrade(await written(t)), { message: 'the folder contains the plugin good, not note' });
  await t.rejects(plugin.upgrade(await note(t, '1.1.0', 'body')), {
    message: '2 objects of notes.note.example break the schema, the first is a: /spec/body is required',
  });
  const step = (up: string): string => `{ id: 'rename-text', type, up: ({ spec, ...note }) => { ${up} } }`;
  await t.rejects(plugin.upgrade(await note(t, '1.2.0', 'body', step("throw new Error('not written yet');"))), {
    message: new RegExp(
      String.raw`^the migration rename-text fails for 2 objects of notes\.note\.example, ` +
        'the first is a: it threw: not written yet; 2',
      'u',
    ),
  });
  const rename = "return 'text' in spec ? { ...note, spec: { body: spec.text } } : undefined;";
  await plugin.upgrade(await note(t, '2.0.0', 'body', step(rename)));
  t.match(await plugin.client.get(notes, 'b'), { spec: { body: 'b' } });
});
