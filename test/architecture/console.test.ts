import { join } from 'node:path';

import { test } from 'tap';

import { bareTexts, importsOf, messageKeys, readMessages, usedKeys } from './console.ts';
import { repository } from './repository.ts';
import { sourceFiles, textOf } from './source-files.ts';

const files = sourceFiles(join(repository, 'console'), /./u).map((path) => `console/${path}`);
const sources = files.filter((path) => /\.(?:vue|ts)$/u.test(path));
const read = (path: string) => ({ path, text: textOf(repository, path) });

/** The keys of all messages of a language, by `<folder>.<key>`, with their placeholders. */
function catalogue(language: string): ReadonlyMap<string, string> {
  return new Map(
    files
      .filter((path) => path.endsWith(`/messages/${language}.json`))
      .flatMap((path) => {
        const folder = path.split('/').at(-3) ?? '';
        return [...messageKeys(readMessages(repository, path), folder)];
      }),
  );
}

test('both languages have the same messages, with the same placeholders', async (t) => {
  t.ok(catalogue('en').size > 100);
  t.strictSame(new Map([...catalogue('zh')].sort()), new Map([...catalogue('en')].sort()));
});

test('every message that the console names exists', async (t) => {
  const known = catalogue('en');
  const used = sources.flatMap((path) => usedKeys(read(path)).map((key) => ({ path, key })));
  t.ok(used.length > 100);
  t.strictSame(
    used.filter(({ key }) => !known.has(key)).map(({ path, key }) => `${path}: ${key}`),
    [],
  );
});

test('no template has a text of its own', async (t) => {
  const components = sources.filter((path) => path.endsWith('.vue'));
  t.ok(components.length > 30);
  t.strictSame(
    components.flatMap((path) => bareTexts(read(path))),
    [],
  );
});

test('the console knows of the server its client only', async (t) => {
  const { devDependencies } = JSON.parse(textOf(repository, 'package.json')) as { devDependencies: object };
  const packages = new Set([
    ...Object.keys(devDependencies),
    'yaml',
    'ledgerplane/client',
    'ledgerplane/console-kit',
    'ledgerplane/ui',
  ]);
  const isAllowed = (path: string, imported: string): boolean => {
    if (imported.startsWith('.')) return join(path, '..', imported).startsWith('console/');
    return packages.has(imported) || packages.has(imported.split('/').slice(0, 2).join('/'));
  };
  for (const path of sources.filter((each) => !each.endsWith('.config.ts')))
    for (const imported of importsOf(read(path))) t.ok(isAllowed(path, imported), `${path}: ${imported}`);
});

test('each rule finds its violations, and only those', async (t) => {
  const component = (template: string) => ({ path: 'console/a.vue', text: `<template>${template}</template>` });
  for (const template of ['<p>Hello</p>', '<a title="Hello" />', '<p><b v-if="x">Hello {{ name }}</b></p>'])
    t.equal(bareTexts(component(template)).length, 1, template);
  for (const template of ['<p>{{ t("a") }}</p>', '<a class="Hello" :title="x" />', '<p>–</p>'])
    t.equal(bareTexts(component(template)).length, 0, template);
  t.strictSame([...messageKeys({ a: { b: 'x {n} {m}' } }, 'p')], [['p.a.b', 'm n']]);
  t.strictSame(usedKeys({ path: 'a.ts', text: "t('a.b'); const x = { title: 'c.d' }; exit('no')" }), ['a.b', 'c.d']);
  const script = `<script setup lang="ts">\nimport a from './a.ts';\nconst b = import('b');\n</script>`;
  t.strictSame(importsOf({ path: 'a.vue', text: script }), ['./a.ts', 'b']);
});
