import { isObject } from '../../base/guards.ts';
import { deepEqual } from '../../base/json.ts';
import { escapeToken } from '../../base/reference-token.ts';

/** A member in which two JSON values differ. An absent member is undefined. */
export type ValueDifference = {
  /** A JSON pointer. */
  readonly pointer: string;
  readonly expected: unknown;
  readonly actual: unknown;
};

/**
 * Returns the innermost members in which two JSON values differ, in the order of `expected`. Arrays of different
 * lengths differ as a whole.
 */
export function valueDifferences(expected: unknown, actual: unknown, pointer = ''): readonly ValueDifference[] {
  if (deepEqual(expected, actual)) return [];
  const isSameList = Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length;
  if (!isSameList && !(isObject(expected) && isObject(actual))) return [{ pointer, expected, actual }];
  const [left, right] = [new Map(Object.entries(expected)), new Map(Object.entries(actual))];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((member) =>
    valueDifferences(left.get(member), right.get(member), `${pointer}/${escapeToken(member)}`),
  );
}
