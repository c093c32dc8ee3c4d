import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import ts from 'typescript';

/**
 * The rules of form that neither the compiler nor the dependency rules check. Each function returns its findings as
 * `path: problem` or `path:line: problem`.
 */

export type Source = { readonly path: string; readonly text: string };

/** The limits for production code are lower than those for tests, benchmarks and demos. */
const bounds = {
  shipped: { fileLinesMax: 300, functionLinesMax: 60 },
  supporting: { fileLinesMax: 600, functionLinesMax: 200 },
};

function boundsOf(path: string): { readonly fileLinesMax: number; readonly functionLinesMax: number } {
  return /^(?:src|projections|reconcilers|plugins|scripts|console)\//u.test(path) ? bounds.shipped : bounds.supporting;
}

export function tooLong({ path, text }: Source): readonly string[] {
  const { fileLinesMax, functionLinesMax } = boundsOf(path);
  const findings: string[] = [];
  const isComponent = path.endsWith('.vue');
  const file = ts.createSourceFile(
    isComponent ? `${path}.ts` : path,
    isComponent ? scriptOf(text) : text,
    ts.ScriptTarget.Latest,
    true,
  );
  const lineOf = (position: number): number => file.getLineAndCharacterOfPosition(position).line;
  const lines = text.trimEnd().split('\n').length;
  if (lines > fileLinesMax) findings.push(`${path}: ${lines.toString()} lines, at most ${fileLinesMax.toString()}`);
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = lineOf(node.getStart(file));
      const length = lineOf(node.end) - first + 1;
      if (length > functionLinesMax)
        findings.push(
          `${path}:${(first + 1).toString()}: a function of ${length.toString()} lines, at most ` +
            functionLinesMax.toString(),
        );
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return findings;
}

/** Returns the script of a component at its place, with blank lines before it. */
function scriptOf(component: string): string {
  const [before = '', script = ''] = /^([^]*?<script[^>]*>)([^]*?)<\/script>/u.exec(component)?.slice(1) ?? [];
  return before.replaceAll(/[^\n]/gu, ' ') + script;
}

/**
 * Returns the tests of a file that begin in another way than with a call of tap's `test` at top level, which is a
 * statement of its own.
 */
export function otherTestStarts({ path, text }: Source): readonly string[] {
  const findings: string[] = [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const add = (node: ts.Node, instead: string): void => {
    const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
    findings.push(`${path}:${line.toString()}: ${instead}`);
  };
  const visit = (node: ts.Node, isTopLevel: boolean): void => {
    if (ts.isImportSpecifier(node) && node.propertyName?.text === 'test') add(node, 'import test without another name');
    if (ts.isImportDeclaration(node) && node.moduleSpecifier.getText(file) === "'node:test'")
      add(node, "import test from 'tap'");
    if (ts.isCallExpression(node)) {
      const called = node.expression.getText(file);
      if (called === 'test' && !isTopLevel)
        add(node, 'test( is called in a function: call test( at top level, and pass the test to the function');
      if (called === 'test' && !ts.isExpressionStatement(node.parent))
        add(node.parent, 'write test( as a statement of its own');
      if (called === 't.test' && isTopLevel) add(node, 't.test( is called at top level: call test( instead');
    }
    ts.forEachChild(node, (child) => {
      visit(child, isTopLevel && !ts.isFunctionLike(node));
    });
  };
  visit(file, true);
  return findings;
}

const folderFilesMax = 20;

/** Returns the folders with too many files for a quick overview. */
export function crowded(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > folderFilesMax)
    .map(([folder, count]) => `${folder}: ${count.toString()} files, at most ${folderFilesMax.toString()}`);
}

const columnsMax = 120;

/** Returns the lines that are too wide, except lines with a long URL and generated files, which cannot be wrapped. */
export function tooWide({ path, text }: Source): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.length <= columnsMax || generated.test(path) || unbrokenUrl.test(line)) return [];
    return [`${path}:${(index + 1).toString()}: ${line.length.toString()} columns, at most ${columnsMax.toString()}`];
  });
}

const generated = /\.(?:json|pem|svg)$/u;
const unbrokenUrl = /https?:\/\/[^\s'"`]{100,}/u;

const emptyNames = [
  /(?:^|\/)(?:utils?|helpers?|managers?|types?|index|common|misc|shared)\.[cm]?[jt]s$/u,
  /-(?:utils?|helpers?|manager)\.[cm]?[jt]s$/u,
];

/** The kit names the entry of a front end. */
const frontEndEntry = /^plugins\/[^/]+\/console\/index\.ts$/u;

export function badlyNamed(path: string): readonly string[] {
  if (frontEndEntry.test(path)) return [];
  return emptyNames.some((names) => names.test(path)) ? [`${path}: name the file after its one concept`] : [];
}

/** Forbidden phrases, each with advice. The brackets prevent that a pattern matches its own source. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\b(?:TO[D]O|FIX[M]E|X{3}|HAC[K])\b/u, 'finish the work, or remove the note'],
  [/^(?:<{7}|>{7}) /mu, 'finish the merge'],
  [/(?<![\w.])\/(?:work|home\/\w+|Users\/\w+)\//u, 'do not name a path of one machine'],
  [/\b(?:issue|ticket|task) #?\d+\b/iu, 'state the fact instead of a ticket'],
  [/\b(?:coding agen[t]|ai agen[t]|language mode[l]|copilo[t]|chatbo[t])s?\b/iu, 'write about the project only'],
  [/\bregistry\.(?:npm|yarn|node)[a-z]*\./iu, 'do not name a registry: users choose their own'],
];

export function badPhrases({ path, text }: Source): readonly string[] {
  return phrases.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text);
    if (found === null) return [];
    const line = text.slice(0, found.index).split('\n').length;
    return [`${path}:${line.toString()}: ${JSON.stringify(found[0])}: ${instead}`];
  });
}

/** Returns the problems of a package lock. A lock that names a registry would bind every user to this registry. */
export function lockProblems(lock: string): readonly string[] {
  const { packages = {} } = JSON.parse(lock) as {
    packages?: Record<string, { resolved?: string; version?: string; link?: boolean }>;
  };
  const findings: string[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    if (path !== '' && entry.resolved !== undefined)
      findings.push(`package-lock.json: ${path} has a member "resolved"`);
    if (path !== '' && entry.version === undefined) findings.push(`package-lock.json: ${path} has no version`);
  }
  const named = /https?:\/\/[^"\s]*(?:registry|artifactory|nexus|verdaccio)[^"\s]*/iu.exec(lock);
  if (named !== null) findings.push(`package-lock.json: names ${named[0]}`);
  return findings;
}

/** Returns the anchors that Markdown renderers make from the headings of a text. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutFences(markdown).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gmu)) {
    const anchor = heading
      .replaceAll(/[`*]|\]\([^)]*\)|\[/gu, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/gu, '-');
    let unique = anchor;
    for (let copy = 1; anchors.has(unique); copy += 1) unique = `${anchor}-${copy.toString()}`;
    anchors.add(unique);
  }
  return anchors;
}

/** Returns the links to missing files and to missing headings in the repository. */
export function deadLinks({ path, text }: Source, root: string, read: (path: string) => string): readonly string[] {
  const findings: string[] = [];
  for (const [, target = ''] of withoutCode(text).matchAll(/\]\(\s*<?([^)>\s]+)>?(?:\s+"[^"]*")?\s*\)/gu)) {
    if (/^[a-z][a-z0-9+.-]*:/iu.test(target)) continue;
    const [file = '', anchor] = target.split('#', 2);
    const linked = file === '' ? path : join(file.startsWith('/') ? '' : dirname(path), decodeURIComponent(file));
    if (!existsSync(join(root, linked))) findings.push(`${path}: ${target} does not exist`);
    else if (anchor !== undefined && linked.endsWith('.md') && !anchorsOf(read(linked)).has(anchor))
      findings.push(`${path}: ${target} has no such heading`);
  }
  return findings;
}

function withoutFences(markdown: string): string {
  return markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1/gmu, '');
}

function withoutCode(markdown: string): string {
  return withoutFences(markdown).replaceAll(/`[^`\n]*`/gu, '``');
}
