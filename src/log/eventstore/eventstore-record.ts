import type { EventData } from '@eventstore/db-client';

import { appendBytesMax, streamNameBytesMax } from '../../limits/log.ts';
import { LogCorruptError, logPosition, streamRevision } from '../log.ts';
import type { LogPosition, ProposedEvent, RecordedEvent, StreamName } from '../log.ts';

/**
 * Our events as EventStoreDB keeps them, and back: binary data and JSON metadata, in streams whose names begin with the
 * platform's prefix, so that a filter keeps out whatever else is in there. An append of several events says so in a first
 * member of each one's metadata, `"$append":"2/3"`: the server keeps them together, but tells no reader where one ends.
 */
const nothing = new Uint8Array();

/** Before metadata that is no JSON object there is no room for the mark: it is kept in base64 beside it. */
const packed = '$bytes';

export type Place = { readonly index: number; readonly of: number };

export type StoredRecord = {
  readonly event: RecordedEvent;
  /** Of an append of several events; undefined: it was the only one. */
  readonly place: Place | undefined;
};

/** An event as the protocol has it. */
export type RawRecord = {
  readonly streamId: string;
  readonly id: string;
  readonly revision: number;
  readonly type: string;
  /** Otherwise JSON, which is not how we write. */
  readonly isBytes: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  readonly commit: bigint;
  readonly prepare: bigint;
  /** By the server's clock, in epoch milliseconds; 0 where it does not say. */
  readonly createdMs: number;
};

/** What is taken of the driver's recorded events. */
export type DriverRecord = {
  readonly streamId: string;
  readonly id: string;
  readonly revision: bigint;
  readonly type: string;
  readonly data: unknown;
  readonly metadata?: unknown;
  readonly position?: { readonly commit: bigint; readonly prepare: bigint };
  readonly created?: Date;
};

/** The most a place in the log can be: servers before 22.6 give more for every event that is read from its stream. */
const positionMax = 0x7fff_ffff_ffff_ffffn;

/** @throws RangeError when the server would not take it, before any of it is sent. */
export function driverEvents(events: readonly ProposedEvent[]): EventData[] {
  let bytes = 0;
  const packed = events.map((event, index) => {
    const metadata = events.length === 1 ? plainBytes(event.metadata) : marked(event.metadata, { index: index + 1, of: events.length });
    bytes += event.data.length + metadata.length + 2 * event.type.length;
    return { id: event.id, contentType: 'application/octet-stream' as const, type: event.type, data: plainBytes(event.data), metadata };
  });
  if (bytes > appendBytesMax) {
    throw new RangeError(`an append holds at most ${appendBytesMax.toString()} bytes, got ${bytes.toString()}`);
  }
  return packed;
}

/** @throws RangeError on a name that the other logs would not take either. */
export function driverStream(prefix: string, stream: StreamName): string {
  // No character takes more than three bytes a UTF-16 unit: most names need no counting.
  if (stream.length * 3 > streamNameBytesMax) {
    const bytes = Buffer.byteLength(stream);
    if (bytes > streamNameBytesMax) throw new RangeError(`a stream's name holds at most ${streamNameBytesMax.toString()} bytes, got ${bytes.toString()}`);
  }
  return prefix + stream;
}

/** The driver tells bytes from JSON by the constructor, so a Buffer would be kept as the JSON of a Buffer. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function marked(metadata: Uint8Array, { index, of }: Place): Uint8Array {
  const text = Buffer.from(metadata.buffer, metadata.byteOffset, metadata.length);
  const mark = `{"$append":"${index.toString()}/${of.toString()}"`;
  const isObject = isJsonObject(text);
  const rest = isObject ? text.toString('utf8', 1) : `"${packed}":"${text.toString('base64')}"}`;
  return plainBytes(Buffer.from(isObject && /^\s*\}/u.test(rest) ? `${mark}${rest}` : `${mark},${rest}`));
}

function isJsonObject(text: Buffer): boolean {
  if (text[0] !== 0x7b) return false;
  try {
    JSON.parse(text.toString());
    return true;
  } catch {
    return false;
  }
}

/** The driver has parsed the metadata. Ours came from `JSON.stringify`, so it goes back to the same bytes. */
export function rawRecord({ streamId, id, revision, type, data, metadata, position, created }: DriverRecord): RawRecord {
  const { commit, prepare } = position ?? { commit: positionMax + 1n, prepare: positionMax + 1n };
  const isBytes = data instanceof Uint8Array;
  const createdMs = created?.getTime() ?? 0;
  return { streamId, id, revision: Number(revision), type, isBytes, data: isBytes ? data : nothing, metadata: metadataBytes(metadata), commit, prepare, createdMs };
}

function metadataBytes(metadata: unknown): Uint8Array {
  if (metadata === undefined) return nothing;
  return metadata instanceof Uint8Array ? metadata : Buffer.from(JSON.stringify(metadata));
}

/** What the server itself writes behind a stream that was deleted for good, at a revision that no number holds. */
const tombstone = '$streamDeleted';

/** Undefined for an event of somebody else's, whose stream's name does not begin with `prefix` and a category. */
export function storedRecord(prefix: string, raw: RawRecord): StoredRecord | undefined {
  const stream = streamOf(prefix, raw);
  if (stream === undefined) return undefined;
  const { id, type, data } = raw;
  if (!raw.isBytes) throw new LogCorruptError(`event ${id} in ${raw.streamId} was not written as bytes`);
  const { metadata, place } = unmarked(raw);
  const [revision, position] = [streamRevision(raw.revision), positionOf(raw)];
  const endsAppend = place === undefined || place.index === place.of;
  return { event: { id, type, data, metadata, stream, revision, position, endsAppend }, place };
}

/** The stream of an event of ours; undefined for one of somebody else's, and for the server's own word that a stream is gone. */
export function streamOf(prefix: string, { streamId, type }: Pick<RawRecord, 'streamId' | 'type'>): StreamName | undefined {
  if (!streamId.startsWith(prefix) || type === tombstone) return undefined;
  const name = streamId.slice(prefix.length);
  return /^[a-z]+:./su.test(name) ? name as StreamName : undefined;
}

function positionOf({ id, commit, prepare }: RawRecord): LogPosition {
  if (commit > positionMax) throw new LogCorruptError(`event ${id} has no position: the server is older than 22.6`);
  if (commit !== prepare) throw new LogCorruptError(`event ${id} was written in a transaction, which this program never does`);
  return logPosition(commit + 1n);
}

const markStart = Buffer.from('{"$append":"');
const [comma, brace] = [0x2c, 0x7b];

function unmarked({ id, metadata }: RawRecord): { readonly metadata: Uint8Array; readonly place: Place | undefined } {
  if (metadata[2] !== markStart[2] || markStart.compare(metadata, 0, markStart.length) !== 0) return { metadata, place: undefined };
  const text = Buffer.from(metadata.buffer, metadata.byteOffset, metadata.length);
  const end = text.indexOf('"', markStart.length);
  const [, index, of] = /^([1-9]\d{0,6})\/([1-9]\d{0,6})$/u.exec(text.toString('latin1', markStart.length, end)) ?? [];
  if (index === undefined || Number(index) > Number(of)) throw new LogCorruptError(`event ${id} does not say where in its append it stands`);
  return { metadata: restOf(text, end + 1), place: { index: Number(index), of: Number(of) } };
}

/** The other members, or the bytes that stand in for them. */
function restOf(text: Buffer, at: number): Uint8Array {
  if (text[at] !== comma) return Buffer.concat([text.subarray(0, 1), text.subarray(at)]);
  const packedStart = `"${packed}":"`;
  if (text.toString('latin1', at + 1, at + 1 + packedStart.length) === packedStart) {
    return Buffer.from(text.toString('latin1', at + 1 + packedStart.length, text.length - 2), 'base64');
  }
  // The brace takes the comma's place.
  const rest = Buffer.from(text.subarray(at));
  rest[0] = brace;
  return rest;
}
