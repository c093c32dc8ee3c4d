import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { test } from 'tap';

import { declaredTypes, oddModule } from '../../openapi/odd-types.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { compileErrors, sameText } from '../../support/compiled.ts';
import { runCommand, type CommandRun } from '../../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../../support/server/start-server.ts';

const plugins = { shop: { 'plugin.yaml': manifestYaml('shop', { main: 'main.mjs' }), 'main.mjs': oddModule } };

let server: TestServer;
let folder: string;

t.before(async () => {
  const pluginFolder = await temporaryFolder(t);
  await writePlugins(pluginFolder, plugins);
  server = await startTestServer({ environment: { PLUGINS_DIRS: pluginFolder } });
  folder = await mkdtemp(join(tmpdir(), 'ledgerplane-types-'));
});

t.teardown(async () => {
  await server.remove();
  await rm(folder, { recursive: true, force: true });
});

async function run(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<CommandRun> {
  const variables = { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword, ...more };
  return runCommand(['types', '--user', 'admin', ...args], { variables, folder });
}

test('the written types are those of the plugins’ sources and of every type that the server has', async (t) => {
  const { code, out, err } = await run([]);
  t.strictSame([code, err], [0, '']);
  // The compiler does not follow a schema that is nested 200 deep in a source.
  const odd = declaredTypes
    .filter(({ kind }) => kind !== 'Deep')
    .map(({ kind, schema }) => {
      const written = `written.${kind === 'Widget' ? 'WidgetShopExample' : kind}`;
      const named = `group: 'g.example', version: 'v1', kind: 'K', singular: 'k', plural: 'ks'`;
      const constant = `declared${kind}`;
      return (
        `const ${constant} = defineType({ ${named}, schema: ${JSON.stringify(schema)} });\n` +
        `same<ObjectOf<typeof ${constant}>, ${written}>();`
      );
    });
  const equal = [
    `import { defineType, type ObjectOf, type PluginObject } from 'ledgerplane/plugin';`,
    `import type { comment } from '../../dist/plugins/content/comment.js';`,
    `import type { post } from '../../dist/plugins/content/post.js';`,
    `import type { widget } from '../../dist/plugins/example/widget.js';`,
    `import * as written from './written.ts';`,
    sameText,
    `same<ObjectOf<typeof widget>, written.WidgetExampleCom>();`,
    `same<ObjectOf<ReturnType<typeof post>>, written.Post>();`,
    `same<ObjectOf<ReturnType<typeof comment>>, written.Comment>();`,
    `same<ObjectOf<typeof written.user>, written.User>();`,
    `same<written.User['metadata'], PluginObject['metadata']>();`,
    ...odd,
  ].join('\n');
  const files = { 'written.ts': out, 'equal.ts': equal };
  t.strictSame(compileErrors(files, { allowImportingTsExtensions: true }), []);
  t.strictSame(
    compileErrors(files, { allowImportingTsExtensions: true, exactOptionalPropertyTypes: false }),
    [],
    'also without exactOptionalPropertyTypes',
  );
});

test('a client’s calls take the written names, and refuse what the types do not have', async (t) => {
  const { out } = await run(['--type', 'widgets.example.com']);
  t.match(out, /^export type Widget = \{$/mu);
  t.notMatch(out, /Post|User|Shop/u);
  const program = `
import { connect } from 'ledgerplane/client';
import { widget, type Widget } from './written.ts';

const client = connect({ url: 'https://127.0.0.1' });
const { items } = await client.list(widget);
export const titles: readonly string[] = items.map(({ spec }) => spec.title);
export const informer = client.informer(widget, { indexes: { size: ({ spec }) => spec.size } });
for await (const { object } of client.watch(widget)) export_(object);
function export_(object: Widget): void {
  // @ts-expect-error -- misspelt
  object.spec.titel;
  // @ts-expect-error -- a title is a text
  const title: number = object.spec.title;
  // @ts-expect-error -- objects are not changed in place
  object.spec.title = '';
  void title;
}
`;
  const options = { allowImportingTsExtensions: true };
  t.strictSame(compileErrors({ 'written.ts': out, 'program.ts': program }, options), []);
});

test('two kinds of one name have names of their own, and a choice of one has the plain name', async (t) => {
  const names = async (...args: readonly string[]): Promise<readonly (string | undefined)[]> =>
    [...(await run(args)).out.matchAll(/^export (?:type|const) (\w+)/gmu)].map(([, name]) => name);
  t.strictSame(await names('--type', 'widgets'), [
    ...['WidgetExampleCom', 'widgetExampleCom', 'WidgetShopExample', 'widgetShopExample'],
    ...['WidgetTwinExample', 'widgetTwinExample'],
  ]);
  t.strictSame(await names('--group', 'twin.example'), ['Widget', 'widget']);
  t.strictSame(await names('--group', 'twin.example', '--type', 'users'), ['User', 'user', 'Widget', 'widget']);
  t.strictSame(await names('--group', ''), [
    ...['PersonalAccessToken', 'personalAccessToken', 'RoleBinding', 'roleBinding', 'Role', 'role'],
    ...['Session', 'session', 'User', 'user'],
  ]);
});

test('lines fit 120 columns, and the same types give the same text', async (t) => {
  const { out } = await run([]);
  // One schema is nested 200 deep.
  const long = out
    .split('\n')
    .filter((line) => line.length > 120 && !/^ +(?:readonly inner\?: (?:\{|string;)|\}?;)$/u.test(line));
  t.strictSame(long, []);
  t.equal((await run([])).out, out);
});

test('--out replaces a file as a whole, relative to the folder of the command', async (t) => {
  const printed = await run(['--group', 'example.com']);
  const path = join(folder, 'widget.ts');
  for (const args of [['widget.ts'], [path]]) {
    const { code, out, err } = await run(['--group', 'example.com', '--out', ...args]);
    t.strictSame({ code, out, err }, { code: 0, out: '', err: `wrote 1 type to ${path}\n` });
    t.equal(await readFile(path, 'utf8'), printed.out);
  }
  t.match(await run(['--out', 'no/such/folder.ts']), {
    code: 2,
    out: '',
    err: /folder\.ts cannot be written: ENOENT/u,
  });
});

test('what cannot be answered says why', async (t) => {
  t.match(await run(['--type', 'wodgets\u001b']), {
    code: 1,
    out: '',
    err: /^ledgerplane: the server has no type "wodgets.*": use one of .*users.*widgets\.example\.com/u,
  });
  t.match(await run(['--group', 'nothing.example']), {
    code: 1,
    err: /has no group "nothing\.example": use one of "", .*example\.com/u,
  });
  t.match(await run([], { LEDGERPLANE_PASSWORD: 'another password' }), {
    code: 1,
    out: '',
    err: /\(401 Unauthorized\)\n$/u,
  });
  t.match(await run([], { LEDGERPLANE_SERVER: 'http://127.0.0.1:1' }), {
    code: 1,
    out: '',
    err: /cannot reach http:\/\/127\.0\.0\.1:1: connection refused/u,
  });
  t.match(await run(['--colour']), { code: 2, err: /unknown option '--colour': try ledgerplane types --help/u });
});
