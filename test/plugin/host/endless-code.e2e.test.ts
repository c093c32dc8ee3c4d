/** Code in a plugin folder that does not return is interrupted: the plugin fails, and the server goes on. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { conditionOf, pluginWhere } from '../../packages/package-requests.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { manifestYaml, temporaryFolder, writePlugins } from './host-stage.ts';

t.setTimeout(240_000);
const path = '/apis/tales.example.com/v1/tales';
const spec = "{ type: 'object', properties: { spec: { type: 'object' } } }";
const names = "group: 'tales.example.com', kind: 'Tale', singular: 'tale', plural: 'tales'";

function moduleWith({ type = "version: 'v1'", more = '' }: { readonly type?: string; readonly more?: string }): string {
  return (
    "import { definePlugin, defineType } from 'ledgerplane/plugin';\n" +
    `const tale = defineType({ ${names}, schema: ${spec}, ${type} });\n` +
    `export default definePlugin({ types: [tale], ${more} });\n`
  );
}

const converting = (up: string): string =>
  "version: 'v2', versions: [" +
  `{ name: 'v1', schema: ${spec}, examples: [{ spec: { a: 1 } }] }, { name: 'v2', examples: [{ spec: { a: 1 } }] }], ` +
  `convert: [{ from: 'v1', to: 'v2', up: ${up}, down: (tale) => tale }]`;
const forNamed = '(tale) => { while (tale.metadata.name === "odd"); return tale; }';

type Given = { readonly server: TestServer; readonly change: (module: string) => Promise<void> };

/** A server with a plugin folder, and stored objects of its type. */
async function given(t: Test): Promise<Given> {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    tales: { 'plugin.yaml': manifestYaml('tales', { main: 'main.mjs' }), 'main.mjs': moduleWith({}) },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(async () => server.remove());
  await pluginWhere(server, 'tales', ({ status }) => status?.phase === 'started');
  for (const name of ['even', 'odd'])
    t.equal((await server.call(path, { method: 'POST', body: { metadata: { name }, spec: {} } })).status, 201);
  return { server, change: async (module) => writeFile(join(root, 'tales', 'main.mjs'), module) };
}

async function failedWith({ server }: Given, text: RegExp): Promise<void> {
  await pluginWhere(server, 'tales', (plugin) => text.test(conditionOf(plugin, 'Ready')?.message ?? ''));
}

test('a migration in a folder that does not return for a stored object fails the plugin', async (t) => {
  const all = await given(t);
  const { server, change } = all;
  await change(moduleWith({ more: `migrations: [{ id: 'turn', type: tale, up: ${forNamed} }]` }));
  const text =
    /^the migration turn did not return within 5 s for the object "odd" of tales\.tales\.example\.com \(at main/u;
  await failedWith(all, text);
  t.equal((await server.call('/readyz')).status, 200, 'the server answers');
  t.match(await (await server.call('/apis/plugin.svc.run/v1alpha1/plugins/tales')).json(), {
    status: { phase: 'failed', conditions: [{ reason: 'EndlessCode' }] },
  });
  await change(moduleWith({ more: "migrations: [{ id: 'turn', type: tale, up: () => undefined }]" }));
  await pluginWhere(server, 'tales', ({ status }) => status?.phase === 'started');
  t.equal((await server.call(`${path}/odd`)).status, 200);
});

test('a conversion in a folder that does not return fails the plugin, for an object or an example', async (t) => {
  const all = await given(t);
  const { server, change } = all;
  await change(moduleWith({ type: converting(forNamed) }));
  await failedWith(all, /^the conversion v1 to v2 of tales\.tales\.example\.com did not return within 5 s/u);
  await change(moduleWith({ type: converting('() => { for (;;); }') }));
  await failedWith(all, /^the conversion v1 to v2 of an example did not return within 5 s: it must always return$/u);
  await change(moduleWith({ type: converting('(tale) => tale') }));
  await pluginWhere(server, 'tales', ({ status }) => status?.phase === 'started');
  t.equal((await server.call(`${path}/odd`)).status, 200);
});
