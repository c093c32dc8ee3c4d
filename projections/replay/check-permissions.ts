import { deepEqual } from '../../src/base/json.ts';
import type { Slices } from '../../src/base/slices.ts';
import { inSlices, type Steps } from '../../src/base/steps.ts';
import type { ChangeFeed, ObjectReader } from '../../src/read/objects.ts';
import type { Difference } from '../../src/read/replay.ts';
import { PermissionTables } from '../permissions/permission-tables.ts';
import type { TableContents } from '../permissions/table-contents.ts';

type CheckedPermissions = {
  readonly live: Pick<PermissionTables, 'contents'>;
  readonly reader: ObjectReader;
  readonly feed: ChangeFeed;
  readonly domain: string;
};

/**
 * Returns the first difference between the live permission tables and fresh tables, which are loaded from the objects.
 * The live and the fresh tables follow one feed, so their positions are always equal.
 */
export async function checkPermissions(
  { live, reader, feed, domain }: CheckedPermissions,
  slices: Pick<Slices, 'isOver' | 'next'>,
): Promise<Difference | undefined> {
  const unsubscribers: (() => void)[] = [];
  const followed: ChangeFeed = {
    subscribe: (listener) => {
      const unsubscribe = feed.subscribe(listener);
      unsubscribers.push(unsubscribe);
      return unsubscribe;
    },
  };
  const fresh = new PermissionTables({ reader, feed: followed, domain });
  try {
    await fresh.loadIn(slices);
    return await inSlices(firstDifference(live, fresh), slices);
  } finally {
    for (const unsubscribe of unsubscribers) unsubscribe();
  }
}

function* firstDifference(
  live: Pick<PermissionTables, 'contents'>,
  fresh: Pick<PermissionTables, 'contents'>,
): Steps<Difference | undefined> {
  const others = fresh.contents();
  for (const [index, { table, entries }] of live.contents().entries()) {
    const other = others[index]?.entries ?? new Map<string, unknown>();
    const found = yield* differenceOf(entries, other);
    if (found !== undefined) return { table: `permissions: ${table}`, ...found };
  }
  return undefined;
}

type Entries = TableContents['entries'];

function* differenceOf(live: Entries, fresh: Entries): Steps<Omit<Difference, 'table'> | undefined> {
  for (const key of live.keys()) {
    if (!deepEqual(plain(live.get(key)), plain(fresh.get(key))))
      return { key, detail: 'the table in memory differs from the objects' };
    yield;
  }
  // Each live entry has been found in the fresh table, so only additional entries of the fresh table can remain.
  if (live.size === fresh.size) return undefined;
  for (const key of fresh.keys()) {
    if (live.get(key) === undefined) return { key, detail: 'the table in memory lacks entries of the objects' };
    yield;
  }
  return undefined;
}

/** Returns sets and maps as JSON, independent of the order of insertion. */
function plain(value: unknown): unknown {
  if (value instanceof Set) return [...value].map(String).sort();
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [String(key), plain(inner)]));
  return value;
}
