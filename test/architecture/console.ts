import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';
import { parse } from 'vue/compiler-sfc';

import type { Source } from './tidy.ts';

/** The rules of the console's form that neither the linter nor the compiler checks. */

type TemplateNode = {
  readonly type: number;
  readonly content?: unknown;
  readonly loc: { readonly start: { readonly line: number } };
  readonly children?: readonly TemplateNode[];
  readonly props?: readonly TemplateNode[];
  readonly name?: string;
  readonly value?: { readonly content: string };
};

/** Types of nodes in the compiler of Vue. */
const textNode = 2;
const attributeNode = 6;

/** Attributes that are read or spoken to users. */
const spoken = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label', 'text', 'subtitle', 'hint']);
const letters = /\p{L}{2}/u;

/** Returns the texts of a component's template that are not in the messages. */
export function bareTexts({ path, text }: Source): readonly string[] {
  const root = parse(text, { filename: path }).descriptor.template?.ast as TemplateNode | undefined;
  const findings: string[] = [];
  const visit = (node: TemplateNode): void => {
    const isText = node.type === textNode && typeof node.content === 'string' && letters.test(node.content);
    const isSpoken =
      node.type === attributeNode && spoken.has(node.name ?? '') && letters.test(node.value?.content ?? '');
    if (isText || isSpoken) findings.push(`${path}:${node.loc.start.line.toString()}: a text outside of the messages`);
    for (const child of [...(node.children ?? []), ...(node.props ?? [])]) visit(child);
  };
  if (root !== undefined) visit(root);
  return findings;
}

/** Returns the keys of messages, with dots between the levels, and the names of the placeholders in each text. */
export function messageKeys(messages: object, prefix = ''): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(messages).flatMap(([name, value]: [string, unknown]) => {
      const key = prefix === '' ? name : `${prefix}.${name}`;
      if (typeof value === 'object' && value !== null) return [...messageKeys(value, key)];
      const placeholders = new Set([...String(value).matchAll(/\{(\w+)\}/gu)].map(([, each = '']) => each));
      return [[key, [...placeholders].sort().join(' ')] as const];
    }),
  );
}

/** Returns the keys of messages that a file names in calls of `t`, and in members for titles. */
export function usedKeys({ text }: Source): readonly string[] {
  const found = text.matchAll(/\bt\(\s*'([\w.-]+)'|(?<!:)\b(?:title|keypath)(?::\s*'|=")([\w-]+(?:\.[\w-]+)+)['"]/gu);
  return [...found].map(([, called, member]) => called ?? member ?? '');
}

/** Returns the modules that a file imports, also those that it loads later. */
export function importsOf({ path, text }: Source): readonly string[] {
  const { descriptor } = path.endsWith('.vue') ? parse(text, { filename: path }) : { descriptor: undefined };
  const script = path.endsWith('.vue') ? (descriptor?.scriptSetup?.content ?? '') : text;
  const { importedFiles } = ts.preProcessFile(script, true, true);
  return importedFiles.map(({ fileName }) => fileName);
}

export function readMessages(root: string, path: string): object {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as object;
}
