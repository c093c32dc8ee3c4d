import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

import { test } from 'tap';

import { repository } from './repository.ts';
import { sourceFiles, textOf } from './source-files.ts';

type Text = { readonly kind: 'comment' | 'message' | 'doc'; readonly line: number; readonly text: string };
type Words = {
  readonly words: readonly { readonly name: string; readonly perThousandMax: number }[];
  readonly excluded: RegExp;
  readonly textsOf: (path: string, source: string) => readonly Text[];
  readonly matchesIn: (text: string) => readonly number[];
  readonly count: (texts: readonly Text[]) => { readonly words: number; readonly matches: readonly number[] };
};

const script = pathToFileURL(join(repository, 'scripts', 'plain-words.mjs')).href;

test('comments, messages and documents are written in plain words', async (t) => {
  const { words, excluded, textsOf, matchesIn, count } = (await import(script)) as Words;
  const paths = sourceFiles(repository, /\.(?:[cm]?[jt]s|md|ya?ml|sh)$/u).filter((path) => !excluded.test(path));
  const texts = paths.flatMap((path) => textsOf(path, textOf(repository, path)).map((text) => ({ path, ...text })));
  for (const kind of ['comment', 'message', 'doc'] as const) {
    const ofKind = texts.filter((text) => text.kind === kind);
    const sum = count(ofKind);
    t.ok(sum.words > 10_000, `${kind}s: ${sum.words.toString()} words`);
    for (const [index, { name, perThousandMax }] of words.entries()) {
      const found = ofKind
        .filter(({ text }) => (matchesIn(text)[index] ?? 0) > 0)
        .map(({ path, line }) => `${path}:${line.toString()}`);
      const perThousand = ((sum.matches[index] ?? 0) * 1_000) / sum.words;
      t.ok(
        perThousand <= perThousandMax,
        `“${name}” in 1,000 words of ${kind}s: ${perThousand.toFixed(2)}, at most ${perThousandMax.toString()}`,
        { found },
      );
    }
  }
});

test('comments, sentences and prose are counted, and code is not', async (t) => {
  const { textsOf, count } = (await import(script)) as Words;
  const source = [
    '/** Who is told. */',
    "const told = 'who'; // told here",
    "f('tell the caller who it was');",
    '/*',
    ' * what is',
    ' */',
  ].join('\n');
  const texts = textsOf('a.ts', source);
  t.strictSame(
    texts.map(({ kind, line }) => `${kind} ${line.toString()}`),
    ['comment 1', 'comment 2', 'message 3', 'comment 4', 'comment 5', 'comment 6'],
  );
  t.strictSame(count(texts).matches, [3, 1, 2]);
  t.strictSame(count(textsOf('a.md', 'told `told`\n```\ntold\n```\nwhat they\n')).matches, [1, 1, 0]);
});
