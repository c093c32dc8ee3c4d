import { isObject } from '../../src/base/guards.ts';
import type { Steps } from '../../src/base/steps.ts';
import type { Difference } from '../../src/read/replay.ts';
import { viewedTables, type TablesSnapshot, type ViewedTable } from '../lmdb-view.ts';
import { decodeRow, encodeRow, sourceOfRow } from '../row.ts';
import { differenceOfBytes, differenceOfPresence, hashesOf, placeOf, type Sides } from './differing-bytes.ts';
import { firstPointer } from './first-pointer.ts';
import { merged } from './merge-entries.ts';

/** By table: the number of compared entries. */
export type CountedTables = Record<ViewedTable, number>;

export function noTables(): CountedTables {
  return {
    meta: 0,
    gone: 0,
    heads: 0,
    secrets: 0,
    references: 0,
    rows: 0,
  };
}

/**
 * Returns the first difference between the live tables and the tables of a replay, both at one position. Ignores the
 * index entry and the converted response of a row, which `check-index.ts` compares. Ignores the latest time of events,
 * which depends on the clock of the node.
 */
export function* compareTables(
  live: TablesSnapshot,
  replayed: TablesSnapshot,
  counted: CountedTables,
): Steps<Difference | undefined> {
  for (const table of viewedTables) {
    for (const { key, left, right } of merged(live.entries(table), replayed.entries(table))) {
      const detail = differenceIn(table, key, { live: left, replayed: right });
      if (detail !== undefined) return { table, key, detail };
      counted[table] += 1;
      if (counted[table] % entriesPerStep === 0) yield;
    }
  }
  return undefined;
}

const entriesPerStep = 256;

function differenceIn(table: ViewedTable, key: string, { live, replayed }: Sides): string | undefined {
  if (live === undefined || replayed === undefined) return differenceOfPresence({ live, replayed });
  switch (table) {
    case 'rows':
      return differenceOfRows(live, replayed);
    case 'secrets':
      return live.equals(replayed) ? undefined : 'the secret differs; secrets are not shown';
    case 'meta':
      return key === 'checkpoint'
        ? differenceOfBytes(withoutTime(live), withoutTime(replayed))
        : differenceOfBytes(live, replayed);
    default:
      return differenceOfBytes(live, replayed);
  }
}

function withoutTime(checkpoint: Buffer): Buffer {
  const members: unknown = JSON.parse(checkpoint.toString());
  return Buffer.from(JSON.stringify(isObject(members) ? { ...members, time: 0 } : members));
}

function differenceOfRows(live: Buffer, replayed: Buffer): string | undefined {
  const expected = withoutEntry(replayed);
  const found = readable(live);
  if (found === undefined) return `the live row cannot be read; ${hashesOf(live, replayed)}`;
  if (found.equals(expected)) return undefined;
  const pointer = firstPointer(decodeRow(found).answer, decodeRow(expected).answer);
  const member = pointer === undefined ? '' : `, at ${pointer === '' ? 'the root of the object' : pointer}`;
  return `${placeOf(found, expected)} of the row${member}; ${hashesOf(found, expected)}`;
}

/** Returns the row as a fold without types writes rows: without an index entry, with the event's object as response. */
function withoutEntry(row: Buffer): Buffer {
  const none = new Uint8Array(0);
  return encodeRow({
    ...decodeRow(row),
    entry: none,
    source: none,
    answer: sourceOfRow(row),
  });
}

function readable(row: Buffer): Buffer | undefined {
  try {
    return withoutEntry(row);
  } catch {
    return undefined;
  }
}
