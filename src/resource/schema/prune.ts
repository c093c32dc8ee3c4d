import { isObject } from '../../base/guards.ts';
import { unescapeToken } from '../../base/reference-token.ts';
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
    const copy = without(pruned, cutsAt(found));
    pruned = isObject(copy) ? copy : pruned;
  }
  return { object: pruned, unknown };
}

/** The members below a value that are removed. */
type Cuts = { isRemoved: boolean; readonly inner: Map<string, Cuts> };

function cutsAt(pointers: readonly string[]): Cuts {
  const root: Cuts = { isRemoved: false, inner: new Map() };
  for (const pointer of pointers) {
    let at = root;
    for (const token of pointer.split('/').slice(1).map(unescapeToken)) {
      const next: Cuts = at.inner.get(token) ?? { isRemoved: false, inner: new Map() };
      at.inner.set(token, next);
      at = next;
    }
    at.isRemoved = true;
  }
  return root;
}

/** Returns a copy without the removed members. Values that contain none are not copied: the object may be large. */
function without(value: unknown, { inner }: Cuts): unknown {
  if (Array.isArray(value)) {
    const copy: unknown[] = [...(value as readonly unknown[])];
    for (const [index, cuts] of inner) copy[Number(index)] = without(copy[Number(index)], cuts);
    return copy;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([member, each]) => {
      const cuts = inner.get(member);
      if (cuts?.isRemoved === true) return [];
      return [[member, cuts === undefined ? each : without(each, cuts)]];
    }),
  );
}
