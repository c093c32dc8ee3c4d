import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { repository } from './repository.ts';
import { sourceFiles, textOf } from './source-files.ts';
import {
  anchorsOf,
  badPhrases,
  badlyNamed,
  crowded,
  deadLinks,
  lockProblems,
  otherTestStarts,
  tooLong,
  tooWide,
} from './tidy.ts';

const code = /\.(?:[cm]?[jt]s|vue)$/u;
const text = /\.(?:[cm]?[jt]s|md|ya?ml|json|sh|html|css|vue)$|^[^.]+$|^\.npmrc$/u;

function read(path: string): string {
  return textOf(repository, path);
}

test('files and functions are short', async (t) => {
  t.strictSame(
    sourceFiles(repository, code).flatMap((path) => tooLong({ path, text: read(path) })),
    [],
  );
});

test('lines fit 120 columns', async (t) => {
  const written = /^(?:src|projections|reconcilers|plugins|templates|bench|demo|scripts|test|console)\//u;
  const paths = sourceFiles(repository, text).filter((path) => written.test(path) && !path.endsWith('.md'));
  t.ok(paths.length > 1_000, `${paths.length.toString()} files`);
  t.strictSame(
    paths.flatMap((path) => tooWide({ path, text: read(path) })),
    [],
  );
});

test('every test begins with the same function', async (t) => {
  const paths = sourceFiles(repository, code).filter((path) => path.startsWith('test/'));
  t.ok(paths.some((path) => path.endsWith('.test.ts')));
  t.strictSame(
    paths.flatMap((path) => otherTestStarts({ path, text: read(path) })),
    [],
  );
});

test('folders have at most 20 files', async (t) => {
  t.strictSame(crowded(sourceFiles(repository, code)), []);
});

test('no file is named for nothing', async (t) => {
  t.strictSame(sourceFiles(repository, code).flatMap(badlyNamed), []);
});

test('no comment has open work, and none refers to anything outside of the project', async (t) => {
  const paths = sourceFiles(repository, text).filter((path) => path !== 'package-lock.json' && path !== 'LICENSE');
  t.strictSame(
    paths.flatMap((path) => badPhrases({ path, text: read(path) })),
    [],
  );
});

test('the lock ties nobody to one registry', async (t) => {
  t.strictSame(lockProblems(read('package-lock.json')), []);
});

test('links between documents lead somewhere', async (t) => {
  t.strictSame(
    sourceFiles(repository, /\.md$/u).flatMap((path) => deadLinks({ path, text: read(path) }, repository, read)),
    [],
  );
});

test('each rule finds its violations, and only those', async (t) => {
  const lines = (count: number): string => 'f();\n'.repeat(count);
  t.strictSame(tooLong({ path: 'src/a.ts', text: lines(300) }), []);
  t.strictSame(tooLong({ path: 'src/a.ts', text: lines(301) }), ['src/a.ts: 301 lines, at most 300']);
  t.strictSame(tooLong({ path: 'test/a.ts', text: lines(301) }), []);
  t.strictSame(tooLong({ path: 'src/a.ts', text: `function a() {\n${lines(58)}}\n` }), []);
  t.strictSame(tooLong({ path: 'src/a.ts', text: `\nconst a = () => {\n${lines(59)}};\n` }), [
    'src/a.ts:2: a function of 61 lines, at most 60',
  ]);
  const component = `<script setup lang="ts">\nconst a = () => {\n${lines(59)}};\n</script>\n<template></template>\n`;
  t.strictSame(tooLong({ path: 'console/a.vue', text: component }), [
    'console/a.vue:2: a function of 61 lines, at most 60',
  ]);
  t.strictSame(tooLong({ path: 'console/a.vue', text: `<template>\n${lines(299)}</template>\n` }), [
    'console/a.vue: 301 lines, at most 300',
  ]);

  const tests = (body: string): number => otherTestStarts({ path: 'test/a.test.ts', text: body }).length;
  t.equal(tests("import { test } from 'tap';\nfor (const a of b) test(a, async (t) => t.test('b', c));"), 0);
  t.equal(tests("t.test('a', async (t) => undefined);"), 1);
  t.equal(tests("void test('a', async (t) => undefined);"), 1);
  t.equal(tests("await test('a', async (t) => undefined);"), 1);
  t.equal(tests("function behaves(name) {\n  test(name, async (t) => undefined);\n}\nbehaves('a');"), 1);
  t.equal(tests('cases.forEach((name) => test(name, async (t) => undefined));'), 2);
  t.equal(tests("import { test as it } from 'tap';\nit('a', async (t) => undefined);"), 1);
  t.equal(tests("import { describe } from 'node:test';"), 1);

  const many = Array.from({ length: 21 }, (_, index) => `src/a/${index.toString()}.ts`);
  t.strictSame(crowded(many), ['src/a: 21 files, at most 20']);
  t.strictSame(crowded([...many.slice(1), 'src/a/b/0.ts']), []);
  t.strictSame(tooWide({ path: 'test/a.ts', text: `${'a'.repeat(120)}\n` }), []);
  t.strictSame(tooWide({ path: 'test/a.ts', text: `f();\n${'a'.repeat(121)}\n` }), [
    'test/a.ts:2: 121 columns, at most 120',
  ]);
  t.strictSame(tooWide({ path: 'src/a.ts', text: `// https://example.com/${'a'.repeat(120)}` }), []);
  t.equal(tooWide({ path: 'src/a.ts', text: `// https://example.com/a ${'a'.repeat(120)}` }).length, 1);
  t.strictSame(tooWide({ path: 'test/a.json', text: 'a'.repeat(121) }), []);

  for (const path of ['src/utils.ts', 'src/http/index.ts', 'src/types.ts', 'src/plugin-manager.ts', 'helpers.mjs'])
    t.equal(badlyNamed(path).length, 1, path);
  for (const path of ['src/resource-type.ts', 'projections/indexes.ts', 'src/utility-pole.ts'])
    t.equal(badlyNamed(path).length, 0, path);

  for (const phrase of [
    '// TO' + 'DO: later',
    'see /wo' + 'rk/main/x',
    'fixes iss' + 'ue #12',
    'a coding ag' + 'ent',
    '<<<<<<' + '< HEAD',
  ]) {
    t.equal(badPhrases({ path: 'a.ts', text: `first\n${phrase}` }).length, 1, phrase);
  }
  t.strictSame(
    badPhrases({ path: 'a.ts', text: "import '../work/a.ts'; // user agent, session cookie, the issue of a token" }),
    [],
  );

  t.equal(
    lockProblems('{"packages":{"node_modules/a":{"version":"1.0.0","resolved":"https://example.com/a.tgz"}}}').length,
    1,
  );
  t.equal(lockProblems('{"packages":{"node_modules/a":{"optional":true}}}').length, 1);
  t.strictSame(lockProblems('{"packages":{"":{},"node_modules/a":{"version":"1.0.0"}}}'), []);
});

test('links and headings are read as Markdown has them', async (t) => {
  t.strictSame(
    [...anchorsOf('# One & two\n## `code` here\n## One & two\n```\n# no\n```\n')],
    ['one--two', 'code-here', 'one--two-1'],
  );
  const root = t.testdir({ docs: { 'b.md': '# Here\n' } });
  const within = (path: string): string => textOf(root, path);
  const source = {
    path: 'docs/a.md',
    text: '[a](b.md) [b](b.md#here) [c](https://example.com/x) [d](#top) `[e](none.md)` [f](../docs/b.md)\n# Top\n',
  };
  writeFileSync(join(root, 'docs', 'a.md'), source.text);
  t.strictSame(deadLinks(source, root, within), []);
  t.strictSame(deadLinks({ path: 'docs/a.md', text: '[a](none.md) [b](b.md#there)' }, root, within), [
    'docs/a.md: none.md does not exist',
    'docs/a.md: b.md#there has no such heading',
  ]);
});
