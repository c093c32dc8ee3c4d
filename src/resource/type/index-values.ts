import { indexTraceLengthMax, indexValuesPerObjectMax } from '../../limits/objects.ts';
import type { IndexKey } from './index-entry.ts';
import { keyOfValue, kindOf } from './index-key.ts';
import type { IndexDefinition } from './resource-type.ts';

/** The object cannot be indexed, for example because a value is invalid or the index function failed. */
export class IndexValueError extends Error {
  readonly index: string;
  readonly reason: string;

  /**
   * Whether the result or an error of the index function is the cause. Otherwise the cause is a value in the object.
   */
  readonly isComputed: boolean;

  /** `thrown`: the value that an index function threw. */
  constructor(index: string, reason: string, isComputed = false, thrown?: unknown) {
    super(`index ${JSON.stringify(index)}: ${reason}`, { cause: thrown });
    this.isComputed = isComputed;
    this.name = 'IndexValueError';
    this.index = index;
    this.reason = reason;
  }

  /**
   * The stack trace of the index function's error; empty if the trace cannot be read. The trace is read only on demand,
   * because this is slow.
   */
  get trace(): string {
    return traceOf(this.cause);
  }
}

/**
 * Freezes and returns a value and all values within the value. An index function gets the stored object itself, because
 * a copy would make each write slower. If the function could modify the object, the change would bypass the schema.
 */
export function frozen<T>(value: T): T {
  // Values are frozen depth-first, so a frozen value is frozen completely, and a later call returns early.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) if (typeof member === 'object') frozen(member);
  return Object.freeze(value);
}

/** Returns the value at a path of members; undefined if the path does not exist. */
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

/**
 * Returns the keys of the result of `evaluate` for the object, sorted and without duplicates.
 *
 * @throws IndexValueError if `evaluate` throws, or if the result cannot be indexed.
 */
export function keysOf<T>(index: Keyed, evaluate: (object: T) => unknown, object: T): readonly IndexKey[] {
  try {
    const value = evaluate(object);
    if (value === undefined || value === null) return none;
    // Handles the rejection of a promise, because an unhandled rejection would end the process.
    if (value instanceof Promise) value.catch(() => undefined);
    if (!Array.isArray(value)) return [keyOrThrow(index, value)];
    if (!index.multi)
      throw new IndexValueError(
        index.name,
        'cannot index an array: the index is not declared `multi`',
        index.isComputed,
      );
    return manyKeys(index, value);
  } catch (error) {
    throw isIndexValueError(error)
      ? error
      : new IndexValueError(index.name, `the index function threw: ${messageOf(error)}`, true, error);
  }
}

/**
 * Whether the error is an `IndexValueError`. An error object of a plugin may throw even when its class is inspected.
 */
function isIndexValueError(error: unknown): error is IndexValueError {
  try {
    return error instanceof IndexValueError;
  } catch {
    return false;
  }
}

function manyKeys(index: Keyed, values: readonly unknown[]): readonly IndexKey[] {
  if (values.length > indexValuesPerObjectMax) {
    throw new IndexValueError(
      index.name,
      `must have at most ${String(indexValuesPerObjectMax)} values, has ${String(values.length)}`,
      index.isComputed,
    );
  }
  const keys: IndexKey[] = [];
  for (const value of values) if (value !== undefined && value !== null) keys.push(keyOrThrow(index, value));
  if (keys.length === 0) return none;
  keys.sort((a, b) => (a === b ? 0 : a < b ? -1 : 1));
  return keys.some((key, at) => at > 0 && key === keys[at - 1]) ? [...new Set(keys)] : keys;
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
    // An error object of a plugin may throw when its members are read.
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
