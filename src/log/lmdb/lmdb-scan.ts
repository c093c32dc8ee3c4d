import type { Database, RootDatabaseOptions } from 'lmdb';

import { logReadAheadEventsMax } from '../../limits/log.ts';
import { categoryTest } from '../category-test.ts';
import { LogCorruptError, logStart, type ScanOptions } from '../log.ts';
import { ScannedRecord } from './lmdb-record.ts';
import { assertIndexed, eventsTable, type LmdbStore } from './lmdb-store.ts';

type PositionRange = {
  readonly first: number;
  readonly last: number;
};

/** Visits the records from `first` to `last` in lmdb's read buffer, without copying them. */
export async function scan(
  store: LmdbStore,
  { first, last }: PositionRange,
  { categories, indexedUntil = logStart, shift = 0n, batchEvents = logReadAheadEventsMax, visit, onBatch }: ScanOptions,
): Promise<void> {
  const wanted = categoryTest(categories);
  const indexed = Math.max(Number(indexedUntil), store.indexedThrough);
  const records = openScans(store);
  for (let next = first; next <= last;) {
    const end = Math.min(last, next + batchEvents - 1);
    for (const { key, value } of records.getRange({ start: next, end: end + 1 })) {
      if (key !== next) break;
      const event = new ScannedRecord(value, next, shift);
      if (wanted(event.stream)) visit(event);
      // The check follows `visit`, because the check overwrites the buffer of the record.
      if (next > indexed) assertIndexed(store, event.stream, event.revision, next);
      next += 1;
    }
    if (next <= end) throw new LogCorruptError(`the record is missing at position ${next.toString()}`);
    await onBatch();
  }
}

/** Opens the table of records. Reads return views of lmdb's shared buffer instead of copies. */
function openScans({ root }: LmdbStore): Database<Buffer, number> {
  const options: RootDatabaseOptions & { readonly name: string } = {
    ...eventsTable,
    encoder: { encode: refuseToWrite, decode: (bytes: Buffer) => bytes.subarray(0, bytes.length) },
  };
  return root.openDB(options);
}

function refuseToWrite(): never {
  throw new Error('the table of records is open for reading only');
}
