import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { repository } from './repository.ts';
import { sourceFiles } from './source-files.ts';

const page = readFileSync(join(repository, 'ARCHITECTURE.md'), 'utf8');
/** Without blocks of code, and without the appendix, which quotes words that are counted. */
const prose = page.slice(0, page.indexOf('## Appendix')).replaceAll(/^```[\s\S]*?^```$/gmu, '');
const files = sourceFiles(repository, /./u);

/** Paths of a running server, paths of requests, and names of packages. */
const notOfTheTree = /^(?:DATA_DIR\/|\/|@|ledgerplane\/)/u;
const pathForm = /^[\w@./*-]+$/u;

/** The words in backticks that have the form of a path: with a slash, or the extension of a source. */
function pathsIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`\n]+)`/gu)]
    .map(([, words = '']) => words)
    .filter((words) => pathForm.test(words) && (words.includes('/') || /\.(?:ts|mjs|md|yaml)$/u.test(words)))
    .filter((words) => !notOfTheTree.test(words));
}

/** Whether a file or folder has this path, or one that ends with it; the extension may be absent, `*` is any text. */
function isIn(paths: readonly string[], wanted: string): boolean {
  const pattern = wanted
    .replace(/\/$/u, '')
    .replaceAll('.', String.raw`\.`)
    .replaceAll('*', '[^/]*');
  const found = new RegExp(String.raw`(?:^|/)${pattern}(?:\.ts$|/|$)`, 'u');
  return paths.some((path) => found.test(path));
}

test('every path that ARCHITECTURE.md names exists', async (t) => {
  const named = pathsIn(prose);
  t.ok(named.length > 80, `${named.length.toString()} paths`);
  t.strictSame(
    named.filter((path) => !isIn(files, path)),
    [],
  );
});

test('every file that the code map says to begin with is in the place of its row', async (t) => {
  const rows = prose
    .slice(prose.indexOf('## Code map'), prose.indexOf('## Rings'))
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  t.ok(rows.length > 15, `${rows.length.toString()} rows`);
  for (const [, place = '', , begin = ''] of rows) {
    const folders = [...place.matchAll(/`([^`]+)`/gu)].map(([, folder = '']) => `${folder}/`);
    const inside = files.filter((path) => folders.some((folder) => path.startsWith(folder)));
    for (const folder of folders)
      t.ok(
        inside.some((path) => path.startsWith(folder)),
        `${folder} exists`,
      );
    for (const path of pathsIn(begin)) t.ok(isIn(inside, path), `${place}: ${path}`);
  }
});

test('each invariant in ARCHITECTURE.md names a test that exists', async (t) => {
  const invariants = page
    .replaceAll(/\n {2,}/gu, ' ')
    .split('\n')
    .filter((line) => line.includes('**Invariant:**'));
  t.not(invariants.length, 0);
  for (const invariant of invariants) {
    const held = [...invariant.matchAll(/\[(test\/[^\]]+)\]\(\1\):((?:,? “[^”]+”)+)/gu)];
    t.not(held.length, 0, `a test is named: ${invariant.slice(0, 90)}`);
    for (const [, path = '', titles = ''] of held) {
      const text = readFileSync(join(repository, path), 'utf8').replaceAll("\\'", "'");
      for (const [, title = ''] of titles.matchAll(/“([^”]+)”/gu))
        t.ok(text.includes(title), `${path} holds “${title}”`);
    }
  }
});

test('a path is found by its end, without its extension, and with a star', async (t) => {
  const paths = ['src/http/app.ts', 'src/http/body/decode-body.ts'];
  for (const path of ['src/http/app.ts', 'app.ts', 'http/app', 'src/http', 'http/body', 'decode-*', 'src/http/'])
    t.ok(isIn(paths, path), path);
  for (const path of ['pp.ts', 'src/http/application.ts', 'src/htt', 'app.mjs', 'encode-*'])
    t.notOk(isIn(paths, path), path);
  t.strictSame(pathsIn('`a/b.ts`, `c.ts`, `GET /x`, `/readyz`, `@koa/router`, `If-Match`'), ['a/b.ts', 'c.ts']);
});
