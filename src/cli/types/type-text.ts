import type { MembersPart, TypedMember, TypedPart } from '../../openapi/schema/typed-part.ts';
import { docComment } from './doc-comment.ts';
import { literalText, memberName } from './literal-text.ts';

const columns = 120;
const step = '  ';

/** Returns the members of an object type as lines. The description of each member precedes the member. */
export function memberLines({ members }: MembersPart, indent: string): readonly string[] {
  return members.flatMap((member) => memberText(member, indent));
}

function memberText({ name, isRequired, part }: TypedMember, indent: string): readonly string[] {
  const head = `${indent}readonly ${memberName(name)}${isRequired ? '' : '?'}:`;
  const text = typeText(part, head.length + ' ;'.length, indent);
  return [...docComment(part.description ?? '', indent), `${head}${text.startsWith('\n') ? '' : ' '}${text};`];
}

/**
 * Returns the TypeScript type of a part of a schema. The text starts at column `taken`. Further lines are indented at
 * least by `indent`. A union that does not fit on one line begins with a line break.
 */
function typeText(part: TypedPart, taken: number, indent: string): string {
  const flat = flatText(part);
  if (flat !== undefined && taken + flat.length <= columns) return flat;
  const [only, ...others] = alternativesOf(part);
  if (only === undefined) return 'never';
  if (others.length === 0) return brokenText(only, taken, indent);
  const inner = `${indent}${step}${step}`;
  return [only, ...others].map((each) => `\n${indent}${step}| ${choiceText(each, inner)}`).join('');
}

function choiceText(part: TypedPart, indent: string): string {
  const flat = flatText(part);
  return flat !== undefined && indent.length + flat.length < columns ? flat : brokenText(part, indent.length, indent);
}

/** Returns the text of an alternative that does not fit on one line. */
function brokenText(part: TypedPart, taken: number, indent: string): string {
  switch (part.kind) {
    case 'values':
      return part.values.map(literalText).join(' | ');
    case 'list': {
      const isUnion = alternativesOf(part.items).length > 1;
      const items = typeText(part.items, isUnion ? columns : taken + 'readonly []'.length, indent);
      if (isUnion) return `readonly (${items}\n${indent})[]`;
      return items.startsWith('readonly ') ? `readonly (${items})[]` : `readonly ${items}[]`;
    }
    case 'record': {
      const isUnion = alternativesOf(part.each).length > 1;
      const each = typeText(part.each, isUnion ? columns : taken + 'Readonly<Record<string, >>'.length, indent);
      return `Readonly<Record<string,${isUnion ? `${each}\n${indent}` : ` ${each}`}>>`;
    }
    case 'members':
      return ['{', ...memberLines(part, `${indent}${step}`), `${indent}}`].join('\n');
    default:
      return flatText(part) ?? 'unknown';
  }
}

const flatTexts = new WeakMap<TypedPart, { readonly text: string | undefined }>();

/** Returns the type on one line; undefined if the type has declared members or is longer than a line. */
function flatText(part: TypedPart): string | undefined {
  const known = flatTexts.get(part);
  if (known !== undefined) return known.text;
  const made = flatOf(part);
  const text = made === undefined || made.length > columns ? undefined : made;
  flatTexts.set(part, { text });
  return text;
}

const words = {
  text: 'string',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  unknown: 'unknown',
} as const;

function flatOf(part: TypedPart): string | undefined {
  switch (part.kind) {
    case 'members':
      return part.members.length === 0 ? '{}' : undefined;
    case 'list':
      return flatList(part.items);
    case 'record': {
      const each = flatText(part.each);
      return each === undefined ? undefined : `Readonly<Record<string, ${each}>>`;
    }
    case 'values':
    case 'union':
      return unionOf(part);
    default:
      return words[part.kind];
  }
}

function flatList(part: TypedPart): string | undefined {
  const items = flatText(part);
  if (items === undefined) return undefined;
  const isPlain = alternativesOf(part).length < 2 && !items.startsWith('readonly ');
  return isPlain ? `readonly ${items}[]` : `readonly (${items})[]`;
}

function unionOf(part: TypedPart): string | undefined {
  const alternatives = alternativesOf(part);
  if (alternatives.length === 0) return 'never';
  const [only] = alternatives;
  if (only?.kind === 'values' && alternatives.length === 1) return only.values.map(literalText).join(' | ');
  const texts = alternatives.map(flatText);
  return texts.every((text) => text !== undefined) ? texts.join(' | ') : undefined;
}

const alternatives = new WeakMap<TypedPart, readonly TypedPart[]>();

/**
 * Returns the alternatives of a union, without nested unions and repetitions. An alternative `unknown` replaces all
 * other alternatives.
 */
function alternativesOf(part: TypedPart): readonly TypedPart[] {
  const known = alternatives.get(part);
  if (known !== undefined) return known;
  const all = splitOf(part);
  const open = all.find(({ kind }) => kind === 'unknown');
  const found = open === undefined ? withoutRepetition(all) : [open];
  alternatives.set(part, found);
  return found;
}

function splitOf(part: TypedPart): readonly TypedPart[] {
  if (part.kind === 'union') return part.parts.flatMap(alternativesOf);
  if (part.kind !== 'values' || part.values.length === 1) return [part];
  return part.values.map((value) => ({ kind: 'values', values: [value] }));
}

function withoutRepetition(parts: readonly TypedPart[]): readonly TypedPart[] {
  if (parts.length < 2) return parts;
  const seen = new Set<string>();
  return parts.filter((part) => {
    const text = flatText(part);
    if (text === undefined) return true;
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}
