import type { Json, JsonObject } from './audit-event.ts';

/** A difference between two states of an object, at one place. */
export type Difference = {
  /** The readable path of the member, for example `spec.tags[2]`; empty for the whole object. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The value before; undefined if it is added. */
  readonly before: Json | undefined;
  /** The value after; undefined if it is removed. */
  readonly after: Json | undefined;
};

/** Members that every write changes, or that only repeat data of the event. */
const bookkeeping = ['metadata.resourceVersion', 'metadata.version', 'metadata.generation'];
/** Members that each object has from its creation, and that never change. */
const identity = ['apiVersion', 'kind', 'metadata.name', 'metadata.uid', 'metadata.creationTimestamp'];

/**
 * Returns the differences between two states of an object, without the bookkeeping of the server. Compares objects by
 * member, and lists by their changed middle. `before` is undefined for the first state of an object, which is shown
 * without the identity members.
 */
export function differences(before: Json | undefined, after: Json | undefined): readonly Difference[] {
  const found: Difference[] = [];
  compare('', before, after, found);
  const left = new Set(before === undefined ? [...bookkeeping, ...identity] : bookkeeping);
  return found.filter(({ path }) => !left.has(path));
}

function compare(path: string, before: Json | undefined, after: Json | undefined, into: Difference[]): void {
  if (areSame(before, after)) return;
  const [left, right] = [before ?? {}, after ?? {}];
  if (isObject(left) && isObject(right) && hasMembers(left, right)) compareMembers(path, left, right, into);
  else if (isList(before) && isList(after)) compareLists(path, before, after, into);
  else add(path, before, after, into);
}

function compareMembers(path: string, before: JsonObject, after: JsonObject, into: Difference[]): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    compare(joined(path, name), own(before, name), own(after, name), into);
}

/** Ignores equal items at both ends of the lists, and compares the items between them by index. */
function compareLists(path: string, before: readonly Json[], after: readonly Json[], into: Difference[]): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && areSame(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && areSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const length = Math.max(before.length, after.length) - end;
  for (let index = start; index < length; index += 1) {
    const left = index < before.length - end ? before[index] : undefined;
    const right = index < after.length - end ? after[index] : undefined;
    compare(`${path}[${String(index)}]`, left, right, into);
  }
}

function add(path: string, before: Json | undefined, after: Json | undefined, into: Difference[]): void {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  into.push({ path, kind, before, after });
}

/** A name that is not an identifier is shown in brackets. */
function joined(path: string, name: string): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function own(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function hasMembers(...values: readonly JsonObject[]): boolean {
  return values.some((value) => Object.keys(value).length > 0);
}

function areSame(left: Json | undefined, right: Json | undefined): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

/** A text in three parts. Only `middle` differs from the other text. */
export type Marked = { readonly start: string; readonly middle: string; readonly end: string };

/** The maximum length of the equal text that is shown on each side, and of the middle. */
const contextMax = 120;
const middleMax = 2_000;

/** Returns two texts with their different middles marked, cut to a readable length. */
export function markedTexts(before: string, after: string): readonly [Marked, Marked] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const marked = (text: string): Marked => ({
    start: start > contextMax ? `…${text.slice(start - contextMax, start)}` : text.slice(0, start),
    middle: cut(text.slice(start, text.length - end)),
    end: end > contextMax ? `${text.slice(text.length - end).slice(0, contextMax)}…` : text.slice(text.length - end),
  });
  return [marked(before), marked(after)];
}

export function cut(text: string): string {
  return text.length > middleMax ? `${text.slice(0, middleMax)}…` : text;
}

/** Returns a value for display: a string unchanged, any other value as JSON. */
export function shownValue(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
