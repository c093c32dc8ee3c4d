import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { test } from 'tap';
import ts from 'typescript';

import { repository } from './repository.ts';
import { textOf } from './source-files.ts';

const bytesMax = 12 * 1_024;
const importOf = /^(?:import|export)\b[^;]*?\bfrom '(?<from>[^']+)';$/gmu;

/** The modules that a page loads for `path`, without types and comments, those that are imported first. */
function modulesFrom(path: string, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  if (seen.has(path)) return seen;
  seen.set(path, '');
  const { outputText } = ts.transpileModule(textOf(repository, path), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      removeComments: true,
      verbatimModuleSyntax: true,
    },
  });
  for (const { groups } of outputText.matchAll(importOf))
    modulesFrom(join(dirname(path), groups?.['from'] ?? ''), seen);
  seen.delete(path);
  seen.set(path, outputText);
  return seen;
}

test('the client is at most 12 KB, compressed', async (t) => {
  const modules = modulesFrom('src/client/client.ts');
  t.ok(modules.size > 8);
  // Names stay as they are, and nothing that is unused is left out: a minified bundle is smaller.
  const bundle = [...modules.values()].join('\n').replaceAll(importOf, '').replaceAll(/^\s+/gmu, '');
  const { length } = gzipSync(bundle);
  t.comment(`${String(modules.size)} modules, ${String(bundle.length)} characters, ${String(length)} bytes compressed`);
  t.ok(length <= bytesMax, `${String(length)} bytes`);
});

test('nothing in the client needs Node, and every import names a file', async (t) => {
  for (const [path, text] of modulesFrom('src/client/client.ts')) {
    t.notMatch(text, /\b(?:Buffer|process|require|globalThis|setImmediate)\b|node:/u, path);
    for (const { groups } of text.matchAll(importOf)) t.match(groups?.['from'], /^\.\.?\/.*\.ts$/u, path);
  }
});
