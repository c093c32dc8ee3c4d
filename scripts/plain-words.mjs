/**
 * Measures the readability of the repository, and prints a table: unclear words per 1,000 words of comments, messages
 * and docs; lines over 120 columns; tokens on a line; files in a folder. With the argument `--files`, adds the counts
 * of each file. With `--list PATH`, prints each match under a path with its line.
 * `test/architecture/plain-words.test.ts` checks the limits.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const generated = new Set(['node_modules', 'dist', 'data', '.git', '.tap', 'coverage', 'console']);
/**
 * The files that are not measured: quoted specifications, the changelog, the glossary with its replaced words, the
 * license, and the lock file.
 */
export const excluded = /^(?:docs\/spec\/|CHANGELOG\.md$|docs\/glossary\.md$|LICENSE$|package-lock\.json$)/u;
const columnsMax = 120;

/**
 * The patterns of unclear words, each with the maximum count in 1,000 words. The limits are the counts in well-regarded
 * code bases of this field.
 */
export const words = [
  { name: 'told/tell', pattern: /\b(?:tell|tells|telling|told)\b/giu, perThousandMax: 0.1 },
  {
    name: 'what is/was/it/they/has',
    pattern: /\bwhat (?:is|was|it|they|has|are|were|have|had)\b/giu,
    perThousandMax: 0.5,
  },
  { name: 'who/whom/whose/whoever', pattern: /\b(?:who|whom|whose|whoever)\b/giu, perThousandMax: 0.4 },
];

/** The minimum number of words of a string that is measured as a sentence. Shorter strings are names and values. */
const sentenceWordsMin = 3;

/** Returns the texts of a file, each with its first line. The kinds are comment, message and doc. */
export function textsOf(path, source) {
  if (path.endsWith('.md')) return docTexts(source);
  if (/\.[cm]?[jt]s$/u.test(path)) return codeTexts(path, source);
  if (/\.(?:ya?ml|sh)$/u.test(path)) return commentLines(source);
  return [];
}

/** Returns the prose of a document, without code blocks and without `inline code`. */
function docTexts(source) {
  const texts = [];
  let fenced = false;
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/u.test(line)) fenced = !fenced;
    else if (!fenced) texts.push({ kind: 'doc', line: index + 1, text: line.replaceAll(/`[^`]*`/gu, ' ') });
  }
  return texts;
}

function commentLines(source) {
  return source
    .split('\n')
    .flatMap((line, index) => (/^\s*#/u.test(line) ? [{ kind: 'comment', line: index + 1, text: line }] : []));
}

function codeTexts(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found = new Map();
  const add = (kind, start, end) => {
    const text = source.slice(start, end);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    text.split('\n').forEach((part, index) => found.set(`${start}:${index}`, { kind, line: line + index, text: part }));
  };
  const visit = (node) => {
    const children = node.getChildren(file);
    for (const child of children) visit(child);
    if (children.length > 0) return;
    const ranges = [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ];
    for (const { pos, end } of ranges) add('comment', pos, end);
    if (isText(node) && wordsIn(node.text ?? '') >= sentenceWordsMin) add('message', node.getStart(file), node.end);
  };
  visit(file);
  return [...found.values()];
}

function isText(node) {
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
}

export function wordsIn(text) {
  return text.match(/[A-Za-z][A-Za-z'’-]*/gu)?.length ?? 0;
}

/** Returns the number of matches of each pattern in one text. */
export function matchesIn(text) {
  return words.map(({ pattern }) => text.match(pattern)?.length ?? 0);
}

/** Returns the total number of words in texts, and the total number of matches of each pattern. */
export function count(texts) {
  const sum = { words: 0, matches: words.map(() => 0) };
  for (const { text } of texts) {
    sum.words += wordsIn(text);
    matchesIn(text).forEach((matches, index) => {
      sum.matches[index] += matches;
    });
  }
  return sum;
}

/** Returns the number of tokens of each line that has tokens. */
export function tokensPerLine(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lines = new Map();
  const visit = (node) => {
    const children = node.getChildren(file);
    for (const child of children) if (!ts.isJSDoc(child)) visit(child);
    if (children.length > 0 || node.kind === ts.SyntaxKind.EndOfFileToken || node.getStart(file) === node.end) return;
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
    lines.set(line, (lines.get(line) ?? 0) + 1);
  };
  visit(file);
  return [...lines.values()];
}

export function filesOf(folder = root) {
  const found = [];
  const walk = (inside) => {
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
      if (entry.isDirectory() && !generated.has(entry.name)) walk(path);
      else if (entry.isFile() && entry.name !== '.env') found.push(path);
    }
  };
  walk('');
  return found.sort();
}

function median(numbers) {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

function rate(matches, all) {
  return all === 0 ? '0.0' : ((matches * 1_000) / all).toFixed(1);
}

const production = /^(?:src|projections|reconcilers|plugins|scripts)\//u;
const isCode = (path) => /\.[cm]?[jt]s$/u.test(path);
const read = (path) => readFileSync(join(root, path), 'utf8');

function share(paths) {
  const lines = paths.flatMap((path) => read(path).split('\n'));
  const wide = lines.filter((line) => line.length > columnsMax);
  return (
    `${((wide.length * 100) / Math.max(lines.length, 1)).toFixed(1)} %, the longest ` +
    `${Math.max(0, ...lines.map((line) => line.length))}`
  );
}

function fullestFolders(paths) {
  const folders = new Map();
  for (const path of paths) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
  return [...folders]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 4)
    .map(([folder, files]) => `${folder} ${files}`)
    .join(', ');
}

function printTable(paths) {
  const texts = paths.filter((path) => !excluded.test(path)).flatMap((path) => textsOf(path, read(path)));
  const code = paths.filter(isCode);
  const shipped = code.filter((path) => production.test(path));
  console.log('| measure | here | wanted |\n| --- | --- | --- |');
  console.log(`| lines over ${columnsMax} columns in production code | ${share(shipped)} | 0 |`);
  console.log(`| the same in tests | ${share(code.filter((path) => path.startsWith('test/')))} | 0 |`);
  console.log(
    `| tokens on a line, median | ${median(shipped.flatMap((path) => tokensPerLine(path, read(path))))} | 7 |`,
  );
  console.log(`| files directly in one folder | ${fullestFolders(code)} | at most 20 |`);
  for (const kind of ['comment', 'message', 'doc']) {
    const sum = count(texts.filter((text) => text.kind === kind));
    words.forEach(({ name, perThousandMax }, index) => {
      console.log(
        `| \`${name}\` in 1,000 words of ${kind}s | ${rate(sum.matches[index], sum.words)} | ${perThousandMax} |`,
      );
    });
  }
}

function printFiles(paths) {
  for (const path of paths.filter((path) => !excluded.test(path))) {
    const sum = count(textsOf(path, read(path)));
    if (sum.matches.some((matches) => matches > 0))
      console.log(`${sum.matches.join(' ')} of ${sum.words} words: ${path}`);
  }
}

function printMatches(paths, under) {
  for (const path of paths.filter((path) => path.startsWith(under) && !excluded.test(path) && extname(path) !== '')) {
    for (const { line, text } of textsOf(path, read(path))) {
      if (matchesIn(text).some((matches) => matches > 0)) console.log(`${path}:${line}: ${text.trim()}`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = filesOf();
  const list = process.argv.indexOf('--list');
  if (list >= 0) printMatches(paths, process.argv[list + 1] ?? '');
  else printTable(paths);
  if (process.argv.includes('--files')) printFiles(paths);
}
