import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { open } from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';

import { decodeRecord } from './lmdb-record.ts';
import { LogCorruptError, streamRevision } from '../log.ts';
import type { BackwardStreamPage, RecordedEvent, StreamPage } from '../log.ts';

/** The version of the storage format: a log of another version is refused. */
const formatVersion = 1;

const uint48Max = 2 ** 48 - 1;
const two32 = 2 ** 32;

/** The LMDB environment of the log and its two tables. A store reads and puts; `LmdbLog` decides about durability. */
export type LmdbStore = {
  readonly root: RootDatabase<Buffer, string>;
  /** position → record */
  readonly events: Database<Buffer, number>;
  /** [stream, revision] → position */
  readonly streams: Database<Buffer, StreamKey>;
  /** The last used position; 0 in an empty log. */
  readonly lastPosition: number;
  /** The position up to which the index was verified against the records, since the log was opened. */
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

/** Keys are big-endian, so that keys sort like numbers. */
const positionKey = {
  writeKey: writeUint48,
  readKey: readUint48,
};

/**
 * `name NUL revision + 1`: the revisions of a stream are adjacent and in order, and -1 sorts before all of them. Names
 * contain no NUL.
 */
const streamKey = {
  writeKey([name = '', revision = -1]: [string?, number?], target: Buffer, start: number): number {
    const nameEnd = start + target.write(name, start);
    target[nameEnd] = 0;
    return writeUint48(revision + 1, target, nameEnd + 1);
  },
  /** Readers of a stream know its name: only the revision is decoded. */
  readKey: (source: Buffer, _start: number, end: number): StreamKey => ['', readUint48(source, end - 6) - 1],
};

export const eventsTable = { name: 'events', keyEncoder: positionKey };

/** `isReadOnly`: another handle, perhaps of another process, writes the log. */
export async function openStore(dir: string, isReadOnly = false): Promise<LmdbStore> {
  // overlappingSync is off: otherwise a commit is readable before it is on disk, and stays readable if the flush fails.
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
    // A log with a damaged newest record is refused here, before anything is appended after it.
    if (lastPosition > 0) assertRecordIndexed(store, readRecord(store, lastPosition), lastPosition);
    return store;
  } catch (error) {
    await root.close();
    throw error;
  }
}

/** Each record has one index entry. LMDB maintains both counts, so nothing is read. */
function assertAsMany({ events, streams }: LmdbStore): void {
  const [records, entries] = [entryCount(events), entryCount(streams)];
  if (records !== entries)
    throw new LogCorruptError(`it has ${records} records, but its index of streams has ${entries} entries`);
}

function entryCount(table: { getStats(): object }): string {
  const stats = table.getStats();
  return 'entryCount' in stats ? String(stats.entryCount) : 'unknown';
}

function findLastPosition(events: Database<Buffer, number>): number {
  for (const position of events.getKeys({ reverse: true, start: uint48Max, end: 0, limit: 1 })) return position;
  return 0;
}

/** The record is `<format> <UUID of the file>`. */
async function checkFormat(root: RootDatabase<Buffer, string>, lastPosition: number): Promise<void> {
  const stored = root.get('format')?.toString();
  if (stored === undefined) {
    if (lastPosition > 0) throw new LogCorruptError('it has events but no format record');
    await root.put('format', Buffer.from(`${formatVersion.toString()} ${randomUUID()}`));
    return;
  }
  const [version = '', file = ''] = stored.split(' ');
  if (version !== formatVersion.toString())
    throw new Error(`the log has format ${version}; this program reads format ${formatVersion.toString()}`);
  if (file === '') throw new LogCorruptError(`its format record is ${JSON.stringify(stored)}`);
}

export function positionBytes(position: number): Buffer {
  const bytes = Buffer.allocUnsafe(6);
  writeUint48(position, bytes, 0);
  return bytes;
}

export function hasRevision(store: LmdbStore, stream: string, revision: number): boolean {
  return store.streams.doesExist([stream, revision]);
}

/** The stream's last event at or before position `until`. */
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

/** `until`: the last position to read. */
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

/** @throws LogCorruptError when the index points to another event, so that a hole in a stream is detected. */
function readIndexed(store: LmdbStore, [stream, revision]: readonly [string, number], position: number): RecordedEvent {
  const event = readRecord(store, position);
  if (event.stream !== stream || event.revision !== revision) {
    throw new LogCorruptError(
      `revision ${revision.toString()} of ${stream} is at position ${position.toString()}, which is another event`,
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
 * The index, which has no checksum, decides about appends, so every read of a record from disk also checks its index
 * entry. A lost entry would let a second event take the same revision.
 */
export function assertIndexed({ streams }: LmdbStore, stream: string, revision: number, position: number): void {
  const entry = streams.getBinaryFast([stream, revision]);
  if (entry !== undefined && readUint48(entry, 0) === position) return;
  const where = `revision ${revision.toString()} of ${stream} is at position ${position.toString()}`;
  throw new LogCorruptError(`${where}, but the index has another position`);
}

function assertRecordIndexed(store: LmdbStore, { stream, revision }: RecordedEvent, position: number): void {
  assertIndexed(store, stream, revision, position);
}

/**
 * Yields every record from `first` to `last`. The caller may stop early, and must consume the records in one turn,
 * because the cursor holds a snapshot.
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

/** Yields every record from `last` down to `first`. */
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

/** lmdb rejects the puts first, and the reason of the commit a moment later, as a separate promise. */
export async function commitReason(rejection: unknown): Promise<unknown> {
  if (!isCommitFailure(rejection)) return rejection;
  const reason = rejection.commitError.then(
    () => rejection,
    (error: unknown) => error,
  );
  return Promise.race([reason, nextTurn(rejection)]);
}

/**
 * Whether this rejection belongs to lmdb's internal promise of a batch, which nobody can await. The puts of the batch
 * reject as well, so their callers are notified.
 */
export function isStrayCommitFailure(rejection: unknown): boolean {
  if (!isCommitFailure(rejection)) return false;
  rejection.commitError.catch(() => undefined);
  return true;
}

function isCommitFailure(error: unknown): error is Error & { readonly commitError: Promise<unknown> } {
  return error instanceof Error && 'commitError' in error && error.commitError instanceof Promise;
}
