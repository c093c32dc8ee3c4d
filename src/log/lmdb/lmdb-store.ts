import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { open } from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';

import { decodeRecord } from './lmdb-record.ts';
import { LogCorruptError, streamRevision } from '../log.ts';
import type { BackwardStreamPage, RecordedEvent, StreamPage } from '../log.ts';

/** The version of the storage format. A log with another version is refused. */
const formatVersion = 1;

const uint48Max = 2 ** 48 - 1;
const two32 = 2 ** 32;

/** The LMDB environment of the log, and its two tables. */
export type LmdbStore = {
  readonly root: RootDatabase<Buffer, string>;
  /** The records by position. */
  readonly events: Database<Buffer, number>;
  /** The index: the positions by stream and revision. */
  readonly streams: Database<Buffer, StreamKey>;
  /** The last used position; 0 in an empty log. */
  readonly lastPosition: number;
  /** The position up to which index entries were verified since the log was opened. */
  indexedThrough: number;
};

type StreamKey = (string | number)[];

function writeUint48(value: number, target: Buffer, start: number): number {
  target.writeUInt16BE(Math.floor(value / two32), start);
  return target.writeUInt32BE(value >>> 0, start + 2);
}

function readUint48(source: Buffer, start: number): number {
  return source.readUInt16BE(start) * two32 + source.readUInt32BE(start + 2);
}

/** Encodes positions as keys. Big-endian keys sort like numbers. */
const positionKey = {
  writeKey: writeUint48,
  readKey: readUint48,
};

/**
 * Encodes keys of the index: `name NUL revision + 1`. The revisions of a stream are adjacent and in order. A search can
 * start at revision -1, which sorts before all revisions. Names do not contain NUL.
 */
const streamKey = {
  writeKey([name = '', revision = -1]: [string?, number?], target: Buffer, start: number): number {
    const nameEnd = start + target.write(name, start);
    target[nameEnd] = 0;
    return writeUint48(revision + 1, target, nameEnd + 1);
  },
  /** Readers of a stream already have its name. */
  readKey: (source: Buffer, _start: number, end: number): StreamKey => ['', readUint48(source, end - 6) - 1],
};

export const eventsTable = { name: 'events', keyEncoder: positionKey };

/** Opens the log. With `isReadOnly`, another handle may write to the log, perhaps in another process. */
export async function openStore(dir: string, isReadOnly = false): Promise<LmdbStore> {
  // With overlappingSync, a commit would be readable before the commit is on disk.
  const root = open<Buffer, string>({
    path: dir,
    noSubdir: false,
    overlappingSync: false,
    encoding: 'binary',
    maxDbs: 4,
    readOnly: isReadOnly,
  });
  try {
    const eventsOptions = { ...eventsTable, encoding: 'binary' as const };
    const streamsOptions = { name: 'streams', encoding: 'binary' as const, keyEncoder: streamKey };
    const events = root.openDB<Buffer, number>(eventsOptions);
    const streams = root.openDB<Buffer, StreamKey>(streamsOptions);
    const lastPosition = findLastPosition(events);
    await checkFormat(root, lastPosition);
    const store: LmdbStore = { root, events, streams, lastPosition, indexedThrough: 0 };
    assertAsMany(store);
    // Refuses a log with a damaged last record before any event is appended.
    if (lastPosition > 0) assertRecordIndexed(store, readRecord(store, lastPosition), lastPosition);
    return store;
  } catch (error) {
    await root.close();
    throw error;
  }
}

/**
 * Verifies that the index has as many entries as the log has records. LMDB maintains both counts, so no record is read.
 */
function assertAsMany({ events, streams }: LmdbStore): void {
  const [records, entries] = [entryCount(events), entryCount(streams)];
  if (records !== entries)
    throw new LogCorruptError(`the log has ${records} records, but the index of streams has ${entries} entries`);
}

function entryCount(table: { getStats(): object }): string {
  const stats = table.getStats();
  return 'entryCount' in stats ? String(stats.entryCount) : 'unknown';
}

function findLastPosition(events: Database<Buffer, number>): number {
  for (const position of events.getKeys({ reverse: true, start: uint48Max, end: 0, limit: 1 })) return position;
  return 0;
}

/** Checks the format record, `<format> <UUID of the file>`. Writes the record to an empty log. */
async function checkFormat(root: RootDatabase<Buffer, string>, lastPosition: number): Promise<void> {
  const stored = root.get('format')?.toString();
  if (stored === undefined) {
    if (lastPosition > 0) throw new LogCorruptError('the log has events but no format record');
    await root.put('format', Buffer.from(`${formatVersion.toString()} ${randomUUID()}`));
    return;
  }
  const [version = '', file = ''] = stored.split(' ');
  if (version !== formatVersion.toString())
    throw new Error(`the log has format ${version}; this program reads format ${formatVersion.toString()}`);
  if (file === '') throw new LogCorruptError(`the format record ${JSON.stringify(stored)} is invalid`);
}

export function positionBytes(position: number): Buffer {
  const bytes = Buffer.allocUnsafe(6);
  writeUint48(position, bytes, 0);
  return bytes;
}

export function hasRevision(store: LmdbStore, stream: string, revision: number): boolean {
  return store.streams.doesExist([stream, revision]);
}

/** Returns the last event of a stream at or before position `until`. */
export function readLastOfStream(store: LmdbStore, stream: string, until: number): RecordedEvent | undefined {
  const backward = { reverse: true, start: [stream, uint48Max - 1], end: [stream, -1] };
  for (const {
    key: [, revision],
    value,
  } of store.streams.getRange(backward)) {
    const position = readUint48(value, 0);
    if (position <= until) return readIndexed(store, [stream, Number(revision)], position);
  }
  return undefined;
}

/** Returns the event at a revision of a stream, at any position. */
export function readRevision(store: LmdbStore, stream: string, revision: number): RecordedEvent | undefined {
  const position = store.streams.get([stream, revision]);
  return position && readIndexed(store, [stream, revision], readUint48(position, 0));
}

/** A page of a stream. `until` is the last position to read. */
export type StreamRange = StreamPage & { readonly until: number };
export type BackwardStreamRange = BackwardStreamPage & { readonly until: number };

export function readRevisions(store: LmdbStore, stream: string, range: StreamRange): readonly RecordedEvent[] {
  const found: RecordedEvent[] = [];
  let bytes = 0;
  for (const { value } of store.streams.getRange({
    start: [stream, range.from],
    end: [stream, uint48Max - 1],
    limit: range.limit,
  })) {
    const position = readUint48(value, 0);
    if (position > range.until) break;
    const event = readIndexed(store, [stream, range.from + found.length], position);
    found.push(event);
    bytes += event.data.length + event.metadata.length;
    if (bytes >= (range.bytesMax ?? Infinity)) break;
  }
  return found;
}

export function readRevisionsBackward(
  store: LmdbStore,
  stream: string,
  { from = streamRevision(uint48Max - 1), limit, bytesMax = Infinity, until }: BackwardStreamRange,
): readonly RecordedEvent[] {
  const found: RecordedEvent[] = [];
  if (limit <= 0) return found;
  const backward = { reverse: true, start: [stream, Math.min(from, uint48Max - 1)], end: [stream, -1] };
  let [next, bytes]: [number | undefined, number] = [undefined, 0];
  for (const { key, value } of store.streams.getRange(backward)) {
    const [revision, position] = [Number(key[1]), readUint48(value, 0)];
    if (position > until) continue;
    if (next !== undefined && revision !== next)
      throw new LogCorruptError(`revision ${String(next)} of ${stream} is missing`);
    const event = readIndexed(store, [stream, revision], position);
    found.push(event);
    bytes += event.data.length + event.metadata.length;
    next = revision - 1;
    if (found.length >= limit || bytes >= bytesMax) return found;
  }
  if (next !== undefined && next !== -1) throw new LogCorruptError(`revision ${String(next)} of ${stream} is missing`);
  return found;
}

/**
 * Reads the event of an index entry.
 *
 * @throws LogCorruptError if the index entry points to another event.
 */
function readIndexed(store: LmdbStore, [stream, revision]: readonly [string, number], position: number): RecordedEvent {
  const event = readRecord(store, position);
  if (event.stream !== stream || event.revision !== revision) {
    throw new LogCorruptError(
      `revision ${revision.toString()} of ${stream} should be at position ${position.toString()}, ` +
        'but another event is at this position',
    );
  }
  return event;
}

export function readRecord(store: LmdbStore, position: number): RecordedEvent {
  const record = store.events.get(position);
  if (record === undefined) throw new LogCorruptError(`the record is missing at position ${position.toString()}`);
  return decodeRecord(record, position);
}

/**
 * Verifies the index entry of a record. The index has no checksum. Without the entry of an event, a second event with
 * the same revision could be appended.
 */
export function assertIndexed({ streams }: LmdbStore, stream: string, revision: number, position: number): void {
  const entry = streams.getBinaryFast([stream, revision]);
  if (entry !== undefined && readUint48(entry, 0) === position) return;
  const where = `revision ${revision.toString()} of ${stream} is at position ${position.toString()}`;
  throw new LogCorruptError(`${where}, but the index has another position or no entry`);
}

function assertRecordIndexed(store: LmdbStore, { stream, revision }: RecordedEvent, position: number): void {
  assertIndexed(store, stream, revision, position);
}

/**
 * Yields the records from `first` to `last`. The caller may stop early, and must consume the records in one turn,
 * because the cursor keeps a snapshot open.
 */
export function* readRecords(store: LmdbStore, first: number, last: number): Generator<RecordedEvent> {
  let expected = first;
  for (const { key, value } of store.events.getRange({ start: first, end: last + 1 })) {
    if (key !== expected) break;
    const stored = decodeRecord(value, expected);
    if (expected > store.indexedThrough && expected <= store.lastPosition) assertRecordIndexed(store, stored, expected);
    if (expected === store.indexedThrough + 1) store.indexedThrough = expected;
    yield stored;
    expected += 1;
  }
  if (expected <= last) throw new LogCorruptError(`the record is missing at position ${expected.toString()}`);
}

/** Yields the records from `last` down to `first`. The caller must consume the records in one turn. */
export function* readRecordsBackward(store: LmdbStore, last: number, first: number): Generator<RecordedEvent> {
  let expected = last;
  for (const { key, value } of store.events.getRange({ reverse: true, start: last, end: first - 1 })) {
    if (key !== expected) break;
    const stored = decodeRecord(value, expected);
    if (expected > store.indexedThrough && expected <= store.lastPosition) assertRecordIndexed(store, stored, expected);
    yield stored;
    expected -= 1;
  }
  if (expected >= first) throw new LogCorruptError(`the record is missing at position ${expected.toString()}`);
}

/**
 * Returns the reason of a failed commit. lmdb first rejects the puts with an error, whose promise `commitError` later
 * rejects with the reason. Returns the error of the puts if lmdb gives no reason within one turn.
 */
export async function commitReason(rejection: unknown): Promise<unknown> {
  if (!isCommitFailure(rejection)) return rejection;
  const reason = rejection.commitError.then(
    () => rejection,
    (error: unknown) => error,
  );
  return Promise.race([reason, nextTurn(rejection)]);
}

/**
 * Returns whether a rejection belongs to an internal promise of lmdb, which no caller can await. The puts of the failed
 * batch also reject, and callers await the puts.
 */
export function isStrayCommitFailure(rejection: unknown): boolean {
  if (!isCommitFailure(rejection)) return false;
  rejection.commitError.catch(() => undefined);
  return true;
}

function isCommitFailure(error: unknown): error is Error & { readonly commitError: Promise<unknown> } {
  return error instanceof Error && 'commitError' in error && error.commitError instanceof Promise;
}
