/** The words that an editor offers in a plugin's source. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';
import ts from 'typescript';

import { repository } from '../architecture/repository.ts';

const file = join(repository, 'test', 'types', 'written-in-an-editor.ts');
const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
};

/** Returns the completions at `|` in the text. */
function completions(text: string): readonly string[] {
  const at = text.indexOf('|');
  const written = text.replace('|', '');
  const read = (path: string): string | undefined => (path === file ? written : ts.sys.readFile(path));
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const content = path === file ? written : ts.sys.fileExists(path) ? readFileSync(path, 'utf8') : undefined;
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => repository,
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: read,
  });
  const found = service.getCompletionsAtPosition(file, at, {})?.entries.map(({ name }) => name) ?? [];
  service.dispose();
  return found;
}

function inSchema(schema: string): string {
  return `import { defineType } from '../../src/plugin/api/plugin.ts';
export const lamp = defineType({
  group: 'lamps.example', version: 'v1', kind: 'Lamp', singular: 'lamp', plural: 'lamps',
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { title: ${schema} } } } },
});`;
}

test('keywords of a schema are completed at any depth', async (t) => {
  const words = completions(inSchema('{ type: "string", | }'));
  for (const word of ['maxLength', 'additionalProperties', 'enum', 'x-kubernetes-validations'])
    t.ok(
      words.some((found) => found.includes(word)),
      word,
    );
});

test('types of a schema are completed', async (t) => {
  const words = completions(inSchema('{ type: "|" }'));
  t.strictSame(
    ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'].filter((word) => !words.includes(word)),
    [],
  );
});

test('indexed fields are completed in a sort', async (t) => {
  const words = completions(`import { defineType, type Client } from '../../src/plugin/api/plugin.ts';
const lamp = defineType({
  group: 'lamps.example', version: 'v1', kind: 'Lamp', singular: 'lamp', plural: 'lamps',
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { title: { type: 'string' } } } } },
  indexes: [{ name: 'spec.title' }],
});
export const list = async (client: Client) => client.list(lamp, { sort: '|' });`);
  t.ok(words.includes('spec.title'));
  t.ok(words.includes('metadata.name'));
});
