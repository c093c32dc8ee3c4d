import { createHash } from 'node:crypto';
import { indexesPerTypeMax, indexTraceLengthMax, indexValuesPerObjectMax } from '../limits/objects.ts';
import type { IndexEntry, IndexKey } from './index-entry.ts';
import { keyOfText, keyOfValue, kindOf, textOfKey, timestampMs } from './index-key.ts';
import { otherWords } from './near-word.ts';
import type { ResourceObject } from './object.ts';
import type { IndexDefinition, IndexValueType } from './resource-type.ts';
import { shortJson } from './schema-violations.ts';

/** An index as its author declares it (seed 2.6). Without `indexFunc` the name is the dotted path of the value. */
export type IndexSpec = {
  readonly name: string;
  readonly type?: IndexValueType | undefined;
  readonly order?: 'ASC' | 'DESC' | undefined;
  readonly unique?: boolean | undefined;
  readonly multi?: boolean | undefined;
  readonly indexFunc?: ((object: ResourceObject) => unknown) | undefined;
};

/** An object that an index cannot take: a value too long, too many of them, or an index function that failed. */
export class IndexValueError extends Error {
  readonly index: string;
  readonly reason: string;

  /** Whether it is of what an index function did, and not of a value in the object. */
  readonly isComputed: boolean;

  /** `thrown` by an index function: anything. */
  constructor(index: string, reason: string, isComputed = false, thrown?: unknown) {
    super(`index ${JSON.stringify(index)}: ${reason}`, { cause: thrown });
    this.isComputed = isComputed;
    this.name = 'IndexValueError';
    this.index = index;
    this.reason = reason;
  }

  /** Where its function threw, as far as that can be read; not asked for each of many, as it costs more than the error. */
  get trace(): string {
    return traceOf(this.cause);
  }
}

export type DefinedIndexes =
  /** `specs`: what was declared, beside the defaults. */
  | { readonly ok: true; readonly indexes: readonly IndexDefinition[]; readonly specs: readonly IndexSpec[]; readonly fingerprint: string }
  | { readonly ok: false; readonly problems: readonly string[] };

export const nameIndex = 'metadata.name';
export const creationIndex = 'metadata.creationTimestamp';
export const deletionIndex = 'metadata.deletionTimestamp';

const defaultSpecs: readonly IndexSpec[] = [
  { name: nameIndex, unique: true },
  { name: creationIndex, type: 'timestamp' },
  { name: deletionIndex, type: 'timestamp' },
];
const reservedNames = new Set([...defaultSpecs.map((spec) => spec.name), 'metadata.labels']);

/** The indexes every type has (seed 2.6), at the places they have in every type. */
export const defaultIndexes: readonly IndexDefinition[] = defaultSpecs.map(definitionOf);

/** Declared indexes, checked: the defaults, then `specs` in their order. `specs` is a plugin's word, so anything may be in it. */
export function defineIndexes(specs: unknown): DefinedIndexes {
  if (specs !== undefined && !Array.isArray(specs)) return { ok: false, problems: [`indexes: must be an array, is ${kindOf(specs)}`] };
  const raw: readonly unknown[] = specs ?? [];
  if (raw.length + defaultSpecs.length > indexesPerTypeMax) {
    return { ok: false, problems: [`indexes: a type has at most ${String(indexesPerTypeMax)} with the ${String(defaultSpecs.length)} default ones, ${String(raw.length)} are declared`] };
  }
  const problems: string[] = [];
  const seen = new Set<string>();
  const decoded = Array.from(raw, (spec, place) => decodeSpec(spec, `indexes[${String(place)}]`, problems)).filter((spec) => spec !== undefined);
  for (const { name } of decoded) {
    if (reservedNames.has(name)) problems.push(`index ${JSON.stringify(name)}: is a default index and must not be declared`);
    else if (seen.has(name)) problems.push(`index ${JSON.stringify(name)}: is declared twice`);
    seen.add(name);
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, indexes: [...defaultIndexes, ...decoded.map(definitionOf)], specs: decoded, fingerprint: fingerprintOf(decoded) };
}

/** Bumped when the same declaration and object make other keys than before. */
export const keysGeneration = 1;

/** Changes with every declaration and every index function's source; what a function closes over cannot be seen. */
export function fingerprintOf(specs: readonly IndexSpec[]): string {
  const declared = specs.map(({ name, type, order, unique, multi, indexFunc }) =>
    [name, type ?? 'string', order ?? 'ASC', unique ?? false, multi ?? false, indexFunc === undefined ? '' : Function.prototype.toString.call(indexFunc)]);
  return createHash('sha256').update(JSON.stringify([keysGeneration, declared])).digest('hex').slice(0, 32);
}

/** What `object` contributes to its type's indexes. Throws `IndexValueError`. */
export function entryOf(indexes: readonly IndexDefinition[], object: ResourceObject): IndexEntry {
  const { name, creationTimestamp, labels } = object.metadata;
  const created = timestampMs(creationTimestamp);
  if (created === undefined) throw new IndexValueError(creationIndex, `${JSON.stringify(creationTimestamp)} is not a timestamp`);
  return { name, created, labels: labels ?? {}, keys: indexes.map((index) => index.keysOf(object)) };
}

/**
 * The same of an object that is stored already. An event is a fact: an index function that throws today on what was accepted
 * once leaves that index without a value, is told to `onError`, and never stops a fold.
 */
export function entryOfFact(indexes: readonly IndexDefinition[], object: ResourceObject, onError?: (error: IndexValueError) => void): IndexEntry {
  const { name, creationTimestamp, labels } = object.metadata;
  const keys = indexes.map((index) => {
    try {
      return index.keysOf(object);
    } catch (error) {
      if (!(error instanceof IndexValueError)) throw error;
      onError?.(error);
      return [];
    }
  });
  return { name, created: timestampMs(creationTimestamp) ?? 0, labels: labels ?? {}, keys };
}

/** One value of a unique index that an object holds: what a claim is named after. */
export type HeldValue = { readonly index: string; readonly hash: string };

/**
 * The unique values `object` holds, `metadata.name` aside, ordered so that all writers take claims in one order. With those of
 * indexes that were unique once.
 */
export function heldValues(
  indexes: readonly IndexDefinition[], object: ResourceObject, onceUnique?: ReadonlySet<string>,
): readonly HeldValue[] {
  return indexes
    .filter(({ unique, name }) => (unique || onceUnique?.has(name) === true) && name !== nameIndex)
    .flatMap((index) => index.keysOf(object).map((key) => heldValue(index, key)))
    .sort((a, b) => compareTexts(a.index, b.index) || compareTexts(a.hash, b.hash));
}

/** The unique values that an object held by the entry it was and no longer holds by the one it is; nothing is run for it. */
export function valuesLetGo(indexes: readonly IndexDefinition[], before: IndexEntry, after: IndexEntry | undefined): readonly HeldValue[] {
  return indexes.flatMap((index, place) => {
    const held = before.keys[place];
    if (!index.unique || index.name === nameIndex || held === undefined || held.length === 0) return [];
    const kept = after?.keys[place] ?? [];
    return held.filter((key) => !kept.includes(key)).map((key) => heldValue(index, key));
  });
}

/** The hash is of the value as people write it, so that a claim can be found by hand. */
export function heldValue(index: IndexDefinition, key: IndexKey): HeldValue {
  return { index: index.name, hash: createHash('sha256').update(textOfKey(index.type, key)).digest('hex') };
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function definitionOf(spec: IndexSpec): IndexDefinition {
  const { name, type = 'string', order = 'ASC', unique = false, multi = false } = spec;
  const path = name.split('.');
  const { indexFunc } = spec;
  const valueOf = indexFunc === undefined ? (object: ResourceObject) => valueAt(object, path) : (object: ResourceObject) => indexFunc(frozen(object));
  return {
    name, type, order, unique, multi,
    keysOf: (object) => keysOf({ name, type, multi, isComputed: indexFunc !== undefined }, () => valueOf(object)),
    keyOf: (operand) => keyOfText(type, operand),
  };
}

/**
 * The very object that is stored: an index function that changed it would change what is stored, past the schema. Frozen in
 * place, as a copy of each object would cost each write its whole length.
 */
function frozen<T>(value: T): T {
  // From the leaves up: what is frozen is so all the way down, so the next function finds it done.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) if (typeof member === 'object') frozen(member);
  return Object.freeze(value);
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  let value = object;
  for (const member of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[member];
  }
  return value;
}

type Keyed = Pick<IndexDefinition, 'name' | 'type' | 'multi'> & { readonly isComputed: boolean };

const none: readonly IndexKey[] = Object.freeze([]);

function keysOf(index: Keyed, evaluate: () => unknown): readonly IndexKey[] {
  try {
    const value = evaluate();
    if (value === undefined || value === null) return none;
    // Left alone, its rejection would end the process.
    if (value instanceof Promise) value.catch(() => undefined);
    if (!Array.isArray(value)) return [keyOrThrow(index, value)];
    if (!index.multi) throw new IndexValueError(index.name, 'cannot index an array: the index is not declared `multi`', index.isComputed);
    return manyKeys(index, value);
  } catch (error) {
    throw isIndexValueError(error) ? error : new IndexValueError(index.name, `its function threw: ${messageOf(error)}`, true, error);
  }
}

/** What a plugin throws may throw again when it is asked what it is. */
function isIndexValueError(error: unknown): error is IndexValueError {
  try {
    return error instanceof IndexValueError;
  } catch {
    return false;
  }
}

function manyKeys(index: Keyed, values: readonly unknown[]): readonly IndexKey[] {
  if (values.length > indexValuesPerObjectMax) {
    throw new IndexValueError(index.name, `must hold at most ${String(indexValuesPerObjectMax)} values, holds ${String(values.length)}`, index.isComputed);
  }
  const present = values.filter((value) => value !== undefined && value !== null);
  if (present.length === 0) return none;
  const keys = [...new Set(present.map((value) => keyOrThrow(index, value)))];
  return keys.sort((a, b) => (a < b ? -1 : 1));
}

function keyOrThrow(index: Keyed, value: unknown): IndexKey {
  const keyed = keyOfValue(index.type, value);
  if (!keyed.ok) throw new IndexValueError(index.name, keyed.problem, index.isComputed);
  return keyed.key;
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.message === 'string' ? error.message.slice(0, 256) : kindOf(error);
  } catch {
    // What a plugin throws may throw again when it is looked at.
    return 'an error that cannot be printed';
  }
}

function traceOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack.slice(0, indexTraceLengthMax) : '';
  } catch {
    return '';
  }
}

/** What a selector can name without escapes. */
const indexName = /^[^\s=!<>^(),\\\p{Cc}]{1,253}$/u;
const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
const isOneOf = (values: readonly unknown[]) => (value: unknown): boolean => value === undefined || values.includes(value);
const rules: Readonly<Record<string, { readonly valid: (value: unknown) => boolean; readonly expected: string }>> = {
  name: { valid: (value) => typeof value === 'string' && indexName.test(value), expected: 'a text of 1 to 253 characters without spaces and = ! < > ^ ( ) , \\' },
  type: { valid: isOneOf(['string', 'number', 'boolean', 'timestamp']), expected: '"string", "number", "boolean" or "timestamp"' },
  order: { valid: isOneOf(['ASC', 'DESC']), expected: '"ASC" or "DESC"' },
  unique: { valid: isFlag, expected: 'true or false' },
  multi: { valid: isFlag, expected: 'true or false' },
  indexFunc: { valid: (value) => value === undefined || typeof value === 'function', expected: 'a function' },
};

function decodeSpec(raw: unknown, place: string, problems: string[]): IndexSpec | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    problems.push(`${place}: must be an object, is ${kindOf(raw)}`);
    return undefined;
  }
  const spec = raw as Readonly<Record<string, unknown>>;
  const before = problems.length;
  for (const [member, { valid, expected }] of Object.entries(rules)) {
    if (!valid(spec[member])) problems.push(`${place}.${member}: must be ${expected}, is ${shortJson(spec[member])}`);
  }
  for (const member of Object.keys(raw)) if (!Object.hasOwn(rules, member)) problems.push(`${place}.${member.slice(0, 64)}: is not known${otherWords(member.slice(0, 64), Object.keys(rules))}`);
  return problems.length === before ? copyOf(raw as IndexSpec) : undefined;
}

/** Of its own, so that a plugin that changes its declaration later changes nothing here. */
function copyOf({ name, type, order, unique, multi, indexFunc }: IndexSpec): IndexSpec {
  return { name, type, order, unique, multi, indexFunc };
}
