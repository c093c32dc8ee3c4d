import { createHash } from 'node:crypto';

import { isList, isObject } from '../../base/guards.ts';
import { deepEqual } from '../../base/json.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import { escapeToken } from '../../base/reference-token.ts';

/**
 * The result of merging the shipped object, the last applied object and the present object. A value that only the
 * plugin changed gets the shipped value. A value that users changed is kept. An array is merged as one value.
 */
export type Merged = {
  readonly value: JsonObject;
  /** The pointers of values that the plugin and users changed differently. The values of the users are kept. */
  readonly kept: readonly string[];
};

export function mergeThreeWay(base: JsonValue | undefined, current: JsonObject, next: JsonObject): Merged {
  const kept: string[] = [];
  return { value: mergeMembers(base, current, { next, at: '', kept }), kept };
}

type MergeStep = {
  readonly next: JsonObject;
  readonly at: string;
  readonly kept: string[];
};

function mergeMembers(base: JsonValue | undefined, current: JsonObject, { next, at, kept }: MergeStep): JsonObject {
  const merged: [string, JsonValue][] = [];
  for (const member of new Set([...Object.keys(current), ...Object.keys(next)])) {
    const value = mergeValue(memberOf(base, member), memberOf(current, member), {
      next: memberOf(next, member),
      at: `${at}/${escapeToken(member)}`,
      kept,
    });
    if (value !== undefined) merged.push([member, value]);
  }
  return Object.fromEntries(merged);
}

/** Merges a value. Undefined means an absent member. The removal of a member is a change. */
function mergeValue(
  base: JsonValue | undefined,
  current: JsonValue | undefined,
  { next, at, kept }: Omit<MergeStep, 'next'> & { readonly next: JsonValue | undefined },
): JsonValue | undefined {
  if (isSameAsBase(next, base)) return current;
  if (isSameAsBase(current, base)) return next;
  if (deepEqual(current, next)) return current;
  if (isObject(current) && isObject(next)) return mergeMembers(base, current, { next, at, kept });
  kept.push(at);
  return current;
}

function memberOf(value: JsonValue | undefined, member: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, member) ? value[member] : undefined;
}

/**
 * Returns a compact form of a value for the annotation with the last applied object. A hash replaces each long string,
 * long array or large object. The compact form is sufficient to test whether another value is equal. If the value
 * contains hashes of an earlier compact form, `compact` is that form, and its hashes are not hashed again.
 */
export function remember(value: JsonValue, compact?: JsonValue): JsonValue {
  return rememberValue(value, new Set(hashesIn(compact)));
}

function rememberValue(value: JsonValue, kept: ReadonlySet<string>): JsonValue {
  if (typeof value === 'string') {
    if (kept.has(value)) return value;
    return value.length > textLengthMax || value.startsWith(hashPrefix) ? hashOf(value) : value;
  }
  if (isList(value)) return JSON.stringify(value).length > arrayLengthMax ? hashOf(value) : value;
  if (!isObject(value)) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [member, rememberValue(inner, kept)]),
  );
  return JSON.stringify(members).length > objectLengthMax ? hashOf(value) : members;
}

const textLengthMax = 128;
const arrayLengthMax = 1_024;
const objectLengthMax = 65_536;
const hashPrefix = 'sha256:';

/**
 * Replaces the hashes in a compact form with the matching values in `known`. Hashes without a matching value remain.
 */
export function recall(compact: JsonValue, known: readonly (JsonValue | undefined)[]): JsonValue {
  if (typeof compact === 'string' && compact.startsWith(hashPrefix))
    return known.find((value) => isSameAsBase(value, compact)) ?? compact;
  if (!isObject(compact)) return compact;
  return Object.fromEntries(
    Object.entries(compact).map(([member, inner]) => [
      member,
      recall(
        inner,
        known.map((value) => memberOf(value, member)),
      ),
    ]),
  );
}

/** Returns the hashes in a compact form. Arrays in a compact form contain no hashes. */
function hashesIn(compact: JsonValue | undefined): readonly string[] {
  if (typeof compact === 'string') return compact.startsWith(hashPrefix) ? [compact] : [];
  return isObject(compact) ? Object.values(compact).flatMap(hashesIn) : [];
}

function isSameAsBase(value: JsonValue | undefined, base: JsonValue | undefined): boolean {
  if (value === undefined || base === undefined) return value === base;
  return deepEqual(remember(value), base);
}

function hashOf(value: JsonValue): string {
  return hashPrefix + createHash('sha256').update(canonical(value)).digest('hex');
}

/** Returns a text that is equal for equal values, independent of the order of members. */
function canonical(value: JsonValue): string {
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([member, inner]) => `${JSON.stringify(member)}:${canonical(inner)}`)
    .join(',')}}`;
}
