import ts from 'typescript';
import { test } from 'tap';

import { servedTypes } from '../../../src/cli/types/served-types.ts';
import { typesFile } from '../../../src/cli/types/types-file.ts';
import { compileErrors } from '../../support/compiled.ts';

/** A document with one type, as an unfriendly server could answer it. */
function documentWith(schema: object, { path = '/apis/a.b/v1/things/{name}', kind = 'Thing' } = {}): string {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } };
  const named = { 'x-kubernetes-group-version-kind': { group: 'a.b', version: 'v1', kind } };
  return JSON.stringify({
    paths: { [path]: { get: { 'x-kubernetes-action': 'get', ...named, responses: { 200: { content } } } } },
    components: { schemas: { Thing: { 'x-kubernetes-group-version-kind': [], ...schema } } },
  });
}

const hostile = [
  '*/ export const injected = 1; /*',
  '**/',
  '*',
  '*\n/ export const injected = 1; /*',
  '\r*/\u2028export const injected = 1;',
  '@ts-ignore',
  'a\n@ts-nocheck',
  "'; export const injected = 1; '",
  '"}; export const injected = 1; //',
  '\\',
  "\\'; export const injected = 1; //",
  '`${globalThis}`',
  '\u202e\u2066\ufeff\u0000\u001b[31m',
  '\ud800',
  '</script>',
];

test('texts of a server are texts in the file, wherever they are', async (t) => {
  const files = hostile.map((text, index): [string, string] => {
    const value = { type: 'object', description: text, properties: { [text]: { enum: [text, { [text]: [text] }] } } };
    const schema = { ...value, properties: { spec: value, [text]: value } };
    return [`written${index.toString()}.ts`, typesFile(servedTypes(documentWith(schema)))];
  });
  t.strictSame(compileErrors(Object.fromEntries(files)), []);
  for (const [index, [name, file]] of files.entries()) {
    const text = `text ${index.toString()}`;
    const { statements } = ts.createSourceFile(name, file, ts.ScriptTarget.ES2023);
    t.strictSame(
      statements.map(({ kind }) => ts.SyntaxKind[kind]),
      ['ImportDeclaration', 'TypeAliasDeclaration', 'FirstStatement'],
      text,
    );
    t.notMatch(file, /(?!\n)[\p{Cc}\u2028-\u202e\u2066-\u2069\ufeff]/u, `${text}: it has no hidden characters`);
    t.notMatch(file, /^[\s/*]*@ts-/mu, `${text}: no comment is a directive`);
  }
});

test('names without the form of names are refused, and so are other documents', async (t) => {
  const refused = { name: 'CommandFailure', message: /is not the API document of a Ledgerplane server/u };
  const named = [
    { kind: 'Thing = 1; export const injected' },
    { kind: '' },
    { kind: 'thing' },
    { path: "/apis/a'b/v1/things/{name}" },
    { path: '/apis/a.b/v1\n/things/{name}' },
    { path: '/apis/a.b/v1/th*ings/{name}' },
  ];
  for (const name of named) t.throws(() => servedTypes(documentWith({}, name)), refused, JSON.stringify(name));
  for (const text of ['', '<html>', '{"paths":']) t.throws(() => servedTypes(text), refused, text);
  const declared = (text: string): string => documentWith({ 'x-ledgerplane-schema': text });
  t.throws(() => servedTypes(declared('{')), refused);
  for (const empty of ['{}', '[]', 'null', '{"paths":[],"components":7}']) t.strictSame(servedTypes(empty), [], empty);
});

test('a schema that the document leaves out is named, not guessed', async (t) => {
  const left = documentWith({ 'x-kubernetes-group-version-kind': undefined });
  t.throws(() => servedTypes(left), {
    message: "the server's API document omits the schema of Thing (things.a.b)",
  });
});

test('members of every JSON are read: names of prototypes, and schemas of any depth', async (t) => {
  const nested = (levels: number, at: string): string =>
    levels === 0 ? at : `{"type":"array","items":${nested(levels - 1, at)}}`;
  const declared = `{"properties":{"__proto__":{"type":"string"},"spec":${nested(1_000, '{"type":"string"}')}}}`;
  const file = typesFile(servedTypes(documentWith({ 'x-ledgerplane-schema': declared })));
  t.match(file, /^ {2}readonly __proto__\?: string;$/mu);
  t.strictSame(compileErrors({ 'written.ts': file }), []);
});
