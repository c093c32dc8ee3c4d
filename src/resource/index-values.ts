import { indexTraceLengthMax, indexValuesPerObjectMax } from '../limits/objects.ts';
import type { IndexKey } from './type/index-entry.ts';
import { keyOfValue, kindOf } from './type/index-key.ts';
import type { IndexDefinition } from './type/resource-type.ts';

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

/**
 * The very object that is stored: an index function that changed it would change what is stored, past the schema. Frozen in
 * place, as a copy of each object would cost each write its whole length.
 */
export function frozen<T>(value: T): T {
  // From the leaves up: what is frozen is so all the way down, so the next function finds it done.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) if (typeof member === 'object') frozen(member);
  return Object.freeze(value);
}

/** The value at a path of members; undefined where there is none. */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  let value = object;
  for (const member of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[member];
  }
  return value;
}

type Keyed = Pick<IndexDefinition, 'name' | 'type' | 'multi'> & { readonly isComputed: boolean };

const none: readonly IndexKey[] = Object.freeze([]);

/** The keys of what `evaluate` answers, sorted and each once. Throws `IndexValueError`. */
export function keysOf(index: Keyed, evaluate: () => unknown): readonly IndexKey[] {
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
