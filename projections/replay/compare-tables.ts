import { createHash } from 'node:crypto';

import { isObject } from '../../src/base/guards.ts';
import type { Steps } from '../../src/base/steps.ts';
import type { Difference } from '../../src/read/replay.ts';
import { viewedTables, type TablesSnapshot, type ViewedEntry, type ViewedTable } from '../lmdb-view.ts';
import { decodeRow, encodeRow } from '../row.ts';
import { firstPointer } from './first-pointer.ts';

/** By table: the number of entries compared so far. */
export type CountedTables = Record<ViewedTable, number>;

export function noTables(): CountedTables {
  return { meta: 0, gone: 0, heads: 0, secrets: 0, rows: 0 };
}

/**
 * The first difference between the live tables and those of a replay, both at one position. Two parts are not compared:
 * the index entry beside a row, which a plugin's code computes (`check-index.ts` compares it), and the latest time of
 * events, which depends on the clock of the folding node.
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

export type Merged = {
  readonly key: string;
  readonly left: Buffer | undefined;
  readonly right: Buffer | undefined;
};

/** The entries of both sides by key; each side is sorted by the bytes of its keys. */
export function* merged(left: Iterable<ViewedEntry>, right: Iterable<ViewedEntry>): Generator<Merged, undefined> {
  const [lefts, rights] = [new Side(left), new Side(right)];
  try {
    for (;;) {
      const order = orderOf(lefts.key, rights.key);
      const key = order <= 0 ? lefts.key : rights.key;
      if (key === undefined) return;
      yield { key, left: order <= 0 ? lefts.take() : undefined, right: order >= 0 ? rights.take() : undefined };
    }
  } finally {
    lefts.end();
    rights.end();
  }
}

/** The entries of one side, and the next entry of this side. */
class Side {
  readonly #entries: Iterator<ViewedEntry, unknown>;
  #next: ViewedEntry | undefined;

  constructor(entries: Iterable<ViewedEntry>) {
    this.#entries = entries[Symbol.iterator]();
    this.take();
  }

  get key(): string | undefined {
    return this.#next?.key;
  }

  take(): Buffer | undefined {
    const taken = this.#next?.value;
    const step = this.#entries.next();
    this.#next = step.done === true ? undefined : step.value;
    return taken;
  }

  end(): void {
    this.#entries.return?.();
  }
}

/** Compares two keys; undefined, the end of a side, sorts after all keys. */
function orderOf(one: string | undefined, other: string | undefined): number {
  if (one === other) return 0;
  if (one === undefined) return 1;
  return other === undefined ? -1 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

type Sides = { readonly live: Buffer | undefined; readonly replayed: Buffer | undefined };

function differenceIn(table: ViewedTable, key: string, { live, replayed }: Sides): string | undefined {
  if (live === undefined) return 'the log says that it exists, and the live read model lacks it';
  if (replayed === undefined) return 'the live read model has it, and the log does not say so';
  switch (table) {
    case 'rows':
      return differenceOfRows(live, replayed);
    case 'secrets':
      return live.equals(replayed) ? undefined : 'the secret differs; its contents are not shown';
    case 'meta':
      return key === 'checkpoint'
        ? differenceOfTexts(withoutTime(live), withoutTime(replayed))
        : differenceOfTexts(live, replayed);
    default:
      return differenceOfTexts(live, replayed);
  }
}

function withoutTime(checkpoint: Buffer): Buffer {
  const members: unknown = JSON.parse(checkpoint.toString());
  return Buffer.from(JSON.stringify(isObject(members) ? { ...members, time: 0 } : members));
}

function differenceOfTexts(live: Buffer, replayed: Buffer): string | undefined {
  return live.equals(replayed) ? undefined : `${placeOf(live, replayed)}; ${hashesOf(live, replayed)}`;
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

/** The row without the index entry beside it. */
function withoutEntry(row: Buffer): Buffer {
  return encodeRow({ ...decodeRow(row), entry: new Uint8Array(0) });
}

function readable(row: Buffer): Buffer | undefined {
  try {
    return withoutEntry(row);
  } catch {
    return undefined;
  }
}

function placeOf(live: Buffer, replayed: Buffer): string {
  let at = 0;
  while (at < live.length && live[at] === replayed[at]) at += 1;
  return `they differ from byte ${String(at)}`;
}

function hashesOf(live: Buffer, replayed: Buffer): string {
  return `SHA-256 ${hashOf(live)} live, ${hashOf(replayed)} replayed`;
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
