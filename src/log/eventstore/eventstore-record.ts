import type { EventData } from '@eventstore/db-client';

import { appendBytesMax, streamNameBytesMax } from '../../limits/log.ts';
import { LogCorruptError, logPosition, streamRevision } from '../log.ts';
import type { LogPosition, ProposedEvent, RecordedEvent, StreamName } from '../log.ts';

/**
 * This log's events in EventStoreDB: binary data and JSON metadata, in streams with the platform's prefix, so that a
 * filter excludes all others. Each event of an append with several events has a first metadata member
 * `"$append":"2/3"`: the server writes them atomically, but does not report the end of an append to readers.
 */
const nothing = new Uint8Array();

/**
 * The member for metadata that is not a JSON object, in base64: such metadata has no place for the `$append` member.
 */
const packed = '$bytes';

export type AppendPlace = { readonly index: number; readonly of: number };

export type StoredRecord = {
  readonly event: RecordedEvent;
  /** The event's place in an append of several events; undefined for a single event. */
  readonly place: AppendPlace | undefined;
};

/** An event as the protocol encodes it. */
export type RawRecord = {
  readonly streamId: string;
  readonly id: string;
  readonly revision: number;
  readonly type: string;
  /** False for JSON, which this adapter never writes. */
  readonly isBytes: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  readonly commit: bigint;
  readonly prepare: bigint;
  /** By the server's clock, in epoch milliseconds; 0 if absent. */
  readonly createdMs: number;
};

/** The used part of the driver's events. */
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

/** The highest position in the log. Servers before 22.6 return a higher number for every event read from its stream. */
const positionMax = 0x7fff_ffff_ffff_ffffn;

/** @throws RangeError if the server would refuse it, before anything is sent. */
export function driverEvents(events: readonly ProposedEvent[]): EventData[] {
  let bytes = 0;
  const encoded = events.map((event, index) => {
    const metadata =
      events.length === 1
        ? plainBytes(event.metadata)
        : marked(event.metadata, { index: index + 1, of: events.length });
    bytes += event.data.length + metadata.length + 2 * event.type.length;
    return {
      id: event.id,
      contentType: 'application/octet-stream' as const,
      type: event.type,
      data: plainBytes(event.data),
      metadata,
    };
  });
  if (bytes > appendBytesMax) {
    throw new RangeError(`an append has at most ${appendBytesMax.toString()} bytes, got ${bytes.toString()}`);
  }
  return encoded;
}

/** @throws RangeError for a name that the other log adapters would refuse as well. */
export function driverStream(prefix: string, stream: StreamName): string {
  // A UTF-16 unit takes at most three bytes in UTF-8, so most names need no counting.
  if (stream.length * 3 > streamNameBytesMax) {
    const bytes = Buffer.byteLength(stream);
    if (bytes > streamNameBytesMax)
      throw new RangeError(
        `a stream's name has at most ${streamNameBytesMax.toString()} bytes, got ${bytes.toString()}`,
      );
  }
  return prefix + stream;
}

/** The driver distinguishes bytes and JSON by the constructor: it would store a Buffer as JSON. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function marked(metadata: Uint8Array, { index, of }: AppendPlace): Uint8Array {
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

/**
 * An event from the driver, which has parsed the metadata. This adapter wrote the metadata with `JSON.stringify`, so
 * stringifying restores the same bytes.
 */
export function rawRecord({
  streamId,
  id,
  revision,
  type,
  data,
  metadata,
  position,
  created,
}: DriverRecord): RawRecord {
  const { commit, prepare } = position ?? { commit: positionMax + 1n, prepare: positionMax + 1n };
  const isBytes = data instanceof Uint8Array;
  const createdMs = created?.getTime() ?? 0;
  return {
    streamId,
    id,
    revision: Number(revision),
    type,
    isBytes,
    data: isBytes ? data : nothing,
    metadata: metadataBytes(metadata),
    commit,
    prepare,
    createdMs,
  };
}

function metadataBytes(metadata: unknown): Uint8Array {
  if (metadata === undefined) return nothing;
  return metadata instanceof Uint8Array ? metadata : Buffer.from(JSON.stringify(metadata));
}

/** The server's own event at the end of a permanently deleted stream; its revision exceeds a safe number. */
const tombstone = '$streamDeleted';

/** Undefined for an event in a stream without `prefix` and a category. */
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

/** The stream name of this log's event; undefined for other events and for the server's tombstones. */
export function streamOf(
  prefix: string,
  { streamId, type }: Pick<RawRecord, 'streamId' | 'type'>,
): StreamName | undefined {
  if (!streamId.startsWith(prefix) || type === tombstone) return undefined;
  const name = streamId.slice(prefix.length);
  return /^[a-z]+:./su.test(name) ? (name as StreamName) : undefined;
}

function positionOf({ id, commit, prepare }: RawRecord): LogPosition {
  if (commit > positionMax) throw new LogCorruptError(`event ${id} has no position: the server is older than 22.6`);
  if (commit !== prepare)
    throw new LogCorruptError(`event ${id} was written in a transaction, which this program never does`);
  return logPosition(commit + 1n);
}

const markStart = Buffer.from('{"$append":"');
const [comma, brace] = [0x2c, 0x7b];

function unmarked({ id, metadata }: RawRecord): {
  readonly metadata: Uint8Array;
  readonly place: AppendPlace | undefined;
} {
  if (metadata[2] !== markStart[2] || markStart.compare(metadata, 0, markStart.length) !== 0)
    return { metadata, place: undefined };
  const text = Buffer.from(metadata.buffer, metadata.byteOffset, metadata.length);
  const end = text.indexOf('"', markStart.length);
  const [, index, of] = /^([1-9]\d{0,6})\/([1-9]\d{0,6})$/u.exec(text.toString('latin1', markStart.length, end)) ?? [];
  if (index === undefined || Number(index) > Number(of))
    throw new LogCorruptError(`event ${id} has no valid place in its append`);
  return { metadata: restOf(text, end + 1), place: { index: Number(index), of: Number(of) } };
}

/** The remaining members, or the bytes that replace them. */
function restOf(text: Buffer, at: number): Uint8Array {
  if (text[at] !== comma) return Buffer.concat([text.subarray(0, 1), text.subarray(at)]);
  const packedStart = `"${packed}":"`;
  if (text.toString('latin1', at + 1, at + 1 + packedStart.length) === packedStart) {
    return Buffer.from(text.toString('latin1', at + 1 + packedStart.length, text.length - 2), 'base64');
  }
  // Replaces the comma with the brace.
  const rest = Buffer.from(text.subarray(at));
  rest[0] = brace;
  return rest;
}
