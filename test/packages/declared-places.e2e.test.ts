/** Problems of the declarations in a package have their file and line, in the source if the package has source maps. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import t, { test, type Test } from 'tap';
import ts from 'typescript';

import { temporaryFolder } from '../plugin/host/host-stage.ts';
import { startTestServer } from '../support/server/start-server.ts';
import { packageOf } from './archives.ts';
import { dryRun, pluginWhere } from './package-requests.ts';

t.setTimeout(120_000);

const source = `import { definePlugin, defineType } from 'ledgerplane/plugin';

interface Unused {
  readonly name: string;
}

export const tale = defineType({
  group: 'tales.example.com',
  version: 'v1',
  kind: 'Tale',
  singular: 'tale',
  plural: 'tales',
  schema: { type: 'object', properties: { spec: { type: 'object', maxProperteis: 3 } } },
});

export default definePlugin({ types: [tale] });
`;
const manifest = `apiVersion: plugin.\${domain}/v1alpha1
kind: Plugin
metadata:
  name: tales
spec:
  version: 1.0.0
  main: dist/main.js
`;

/** The files of a package, compiled from `text`. */
function filesOf(text: string, { sourceMap = true } = {}): Readonly<Record<string, string>> {
  const { outputText, sourceMapText = '' } = ts.transpileModule(text, {
    fileName: '../src/main.ts',
    compilerOptions: { sourceMap, target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  const compiled = { 'plugin.yaml': manifest, 'dist/main.js': outputText, 'package.json': '{"type":"module"}' };
  if (!sourceMap) return compiled;
  const map = JSON.stringify({ ...(JSON.parse(sourceMapText) as object), sources: ['../src/main.ts'] });
  return { ...compiled, 'dist/main.js.map': map, 'src/main.ts': text };
}

async function refusals(t: Test, packages: readonly Readonly<Record<string, string>>[]): Promise<readonly string[]> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const messages: string[] = [];
  for (const files of packages) {
    const { status, body } = await dryRun(server, packageOf('tales', { files, version: '1.0.0' }));
    t.equal(status, 422);
    messages.push(String(body['message']));
  }
  return messages;
}

test('a package is refused with the file and line of each wrong declaration', async (t) => {
  const text = 'the package is refused: type Tale: schema: properties.spec.maxProperteis: is not a keyword';
  const twice = source.replace('maxProperteis', 'maxProperties').replace('[tale]', '[tale, tale]');
  const [mapped, unmapped, repeated, misspelt] = await refusals(t, [
    filesOf(source),
    filesOf(source, { sourceMap: false }),
    filesOf(twice),
    { ...filesOf(source), 'plugin.yaml': `${manifest}  requiers: '*'\n` },
  ]);
  t.match(mapped, text);
  t.match(mapped, / \(at src\/main\.ts:7\)$/u);
  t.match(unmapped, / \(at dist\/main\.js:2\)$/u);
  t.match(repeated, /declared twice: remove one of the declarations \(at src\/main\.ts:16\)$/u);
  t.match(misspelt, /plugin\.yaml:8: spec\.requiers: is not known; did you mean "requires"\?$/u);
});

test('a plugin folder that is refused reports the file and line', async (t) => {
  const root = await temporaryFolder(t);
  for (const [path, text] of Object.entries(filesOf(source))) {
    await mkdir(dirname(join(root, 'tales', path)), { recursive: true });
    await writeFile(join(root, 'tales', path), text);
  }
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(async () => server.remove());
  const failed = await pluginWhere(server, 'tales', ({ status }) => status?.phase === 'failed');
  t.match(failed, {
    status: { conditions: [{ reason: 'TypesRefused', message: /maxProperteis.* \(at src\/main\.ts:7\)$/u }] },
  });
});
