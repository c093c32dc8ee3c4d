import { isObject } from '../../base/guards.ts';
import { escapeToken } from '../../base/reference-token.ts';
import type { Explained } from './schema-violations.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * The maximum number of rounds in which unknown members are removed. In a very large object, each round finds at most
 * one unknown member.
 */
const pruneRoundsMax = 64;

type Pruned = {
  readonly object: Members;
  readonly unknown: readonly string[];
};

/**
 * Returns a copy of the object without the members that `explained` reports as unknown, and the pointers of these
 * members.
 */
export function prune(object: Members, explained: (object: Members) => readonly Explained[]): Pruned {
  const unknown: string[] = [];
  let pruned = object;
  for (let round = 0; round < pruneRoundsMax; round += 1) {
    const found = explained(pruned)
      .filter((entry) => entry.unknown)
      .map((entry) => entry.pointer);
    if (found.length === 0) break;
    unknown.push(...found);
    const copy = without(pruned, new Set(found), '');
    pruned = isObject(copy) ? copy : pruned;
  }
  return { object: pruned, unknown };
}

function without(value: unknown, pointers: ReadonlySet<string>, at: string): unknown {
  if (Array.isArray(value)) return value.map((element, index) => without(element, pointers, `${at}/${String(index)}`));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([member, inner]) => ({
    member,
    inner,
    pointer: `${at}/${escapeToken(member)}`,
  }));
  return Object.fromEntries(
    entries
      .filter(({ pointer }) => !pointers.has(pointer))
      .map(({ member, inner, pointer }) => [member, without(inner, pointers, pointer)]),
  );
}
