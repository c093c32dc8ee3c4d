import { EventEmitter, once } from 'node:events';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { test, type Test } from 'tap';
import ts from 'typescript';

import { withSourcePlaces } from '../../../src/plugin/errors/source-maps.ts';
import { sourceMapBytesMax } from '../../../src/plugin/lifecycle/life-limits.ts';
import { startTestServer } from '../../support/server/start-server.ts';
import { temporaryFolder } from '../host/host-stage.ts';

const source = `import { definePlugin, defineReconciler, defineType } from 'ledgerplane/plugin';

interface Unused {
  readonly a: string;
}

const note = defineType({
  group: 'notes.example', version: 'v1', kind: 'Note', singular: 'note', plural: 'notes', schema: { type: 'object' },
});

function fail(reason: string): never {
  throw new TypeError(reason);
}

const keep = defineReconciler({ type: note, reconcile: () => fail('out of paper') });

export default definePlugin({
  types: [note],
  reconcilers: [keep],
  routes: [{ method: 'GET', path: '/apis/api.notes.example/v1/fail', handler: () => fail('out of ink') }],
});
`;
const manifest = `apiVersion: plugin.\${domain}/v1alpha1
kind: Plugin
metadata:
  name: notes
spec:
  version: 1.0.0
  main: dist/src/main.js
`;

/** A plugin's folder with `src/main.ts`, compiled by TypeScript into `dist/src`. */
async function compiled(root: string, text: string, map: (text: string) => string = (given) => given): Promise<string> {
  const folder = join(root, 'notes');
  const { outputText, sourceMapText = '' } = ts.transpileModule(text, {
    fileName: 'main.ts',
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, sourceMap: true },
  });
  const files = {
    'plugin.yaml': manifest,
    'src/main.ts': text,
    'dist/src/main.js': outputText,
    'dist/src/main.js.map': map(sourceMapText.replace('"main.ts"', '"../../src/main.ts"')),
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return realpath(folder);
}

/** The number of the first line with this text, counted from 1. */
function lineOf(text: string, part: string): number {
  return text.split('\n').findIndex((line) => line.includes(part)) + 1;
}

async function frameOf(
  t: Test,
  map?: (text: string) => string,
): Promise<{ readonly folder: string; readonly place: string }> {
  const folder = await compiled(await temporaryFolder(t), source, map);
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  const line = lineOf(outputText, 'throw new TypeError');
  const url = `${pathToFileURL(join(folder, 'dist', 'src', 'main.js')).href}?plugin-files=abc.4:${String(line)}:11`;
  return { folder, place: withSourcePlaces(`TypeError: no\n    at fail (${url})`, [folder]) };
}

test('a place of a compiled file becomes that of its source', async (t) => {
  const { folder, place } = await frameOf(t);
  t.equal(place, `TypeError: no\n    at fail (${folder}/src/main.ts:${String(lineOf(source, 'throw new'))}:9)`);
});

test('without a readable map, and for a source outside of the folder, the place stays', async (t) => {
  const padded = (bytes: number) => (text: string) =>
    `${text.slice(0, -1)},"x":"${'x'.repeat(bytes - text.length - 7)}"}`;
  t.match((await frameOf(t, padded(sourceMapBytesMax))).place, /src\/main\.ts/u, 'the limit itself');
  t.match((await frameOf(t, padded(sourceMapBytesMax + 1))).place, /dist\/src\/main\.js/u);
  t.match((await frameOf(t, () => '{')).place, /dist\/src\/main\.js/u);
  t.match((await frameOf(t, () => '[]')).place, /dist\/src\/main\.js/u);
  t.match((await frameOf(t, (text) => text.replace('../../src', '../../../src'))).place, /dist\/src\/main\.js/u);
  t.equal(withSourcePlaces('at /nowhere/main.js:1:1', ['/nowhere']), 'at /nowhere/main.js:1:1');
});

test('logs and conditions name the source of a failing route, reconciler and module', async (t) => {
  const root = await temporaryFolder(t);
  await compiled(root, source);
  const lines: string[] = [];
  const reconcilerFailed = new EventEmitter();
  const failed = once(reconcilerFailed, 'failed');
  const server = await startTestServer({
    environment: { PLUGINS_DIRS: root },
    logLines: {
      write: (line) => {
        lines.push(line);
        if (line.includes('out of paper')) reconcilerFailed.emit('failed');
      },
    },
  });
  t.teardown(async () => server.remove());
  const thrown = new RegExp(`notes/src/main\\.ts:${String(lineOf(source, 'throw new'))}:`, 'u');
  t.equal((await server.call('/apis/api.notes.example/v1/fail')).status, 500);
  t.match(
    lines.find((line) => line.includes('out of ink')),
    thrown,
  );
  await server.call('/apis/notes.example/v1/notes', { method: 'POST', body: { metadata: { name: 'first' } } });
  await failed;
  t.match(
    lines.find((line) => line.includes('out of paper')),
    thrown,
  );
});

test('a module that fails while it loads is reported with its source', async (t) => {
  const root = await temporaryFolder(t);
  const failing = `interface Unused {\n  readonly a: string;\n}\n\nthrow new TypeError('no paper');\nexport {};\n`;
  await compiled(root, failing);
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(async () => server.remove());
  const plugin = (await (await server.call('/apis/plugin.svc.run/v1alpha1/plugins/notes')).json()) as {
    readonly status: { readonly conditions: readonly { readonly type: string; readonly message: string }[] };
  };
  t.match(
    plugin.status.conditions.find(({ type }) => type === 'Ready')?.message,
    /the plugin's module failed: TypeError: no paper \(at src\/main\.ts:5\)/u,
  );
});
