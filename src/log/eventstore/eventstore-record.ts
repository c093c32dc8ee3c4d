import type { EventData } from '@eventstore/db-client';

import { appendBytesMax, streamNameBytesMax } from '../../limits/log.ts';
import { LogCorruptError, logPosition, streamRevision } from '../log.ts';
import type { LogPosition, ProposedEvent, RecordedEvent, StreamName } from '../log.ts';

/**
 * The format of this log's events in EventStoreDB: binary data and JSON metadata. In an append of several events, each
 * event's metadata begins with its place, for example `"$append":"2/3"`. The server writes an append atomically, but
 * does not report the end of an append to readers.
 */
const nothing = new Uint8Array();

/**
 * The member that contains the original metadata in base64, if this metadata is not a JSON object. Only an object can
 * have the member `$append`.
 */
const packed = '$bytes';

export type AppendPlace = {
  readonly index: number;
  readonly of: number;
};

export type StoredRecord = {
  readonly event: RecordedEvent;
  /** Undefined for the event of an append of one event. */
  readonly place: AppendPlace | undefined;
};

/** An event as EventStoreDB returns it. */
export type RawRecord = {
  readonly streamId: string;
  readonly id: string;
  readonly revision: number;
  readonly type: string;
  /** False for JSON data, which this adapter never writes. */
  readonly isBytes: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  readonly commit: bigint;
  readonly prepare: bigint;
  /** The time at which EventStoreDB wrote the event, in epoch milliseconds; 0 if unknown. */
  readonly createdMs: number;
};

/** The members of the driver's events that this adapter uses. */
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

/**
 * The highest possible position. EventStoreDB before 22.6 returns a higher number for each event that is read from a
 * stream.
 */
const positionMax = 0x7fff_ffff_ffff_ffffn;

/**
 * Encodes the events of an append.
 *
 * @throws RangeError if the append exceeds `appendBytesMax`.
 */
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
    throw new RangeError(`an append must have at most ${appendBytesMax.toString()} bytes, got ${bytes.toString()}`);
  }
  return encoded;
}

/**
 * Returns the name of a stream in EventStoreDB.
 *
 * @throws RangeError for a name that is too long. The embedded log has the same limit.
 */
export function driverStream(prefix: string, stream: StreamName): string {
  // A UTF-16 unit has at most three bytes in UTF-8, so most names need not be measured.
  if (stream.length * 3 > streamNameBytesMax) {
    const bytes = Buffer.byteLength(stream);
    if (bytes > streamNameBytesMax)
      throw new RangeError(
        `a stream's name must have at most ${streamNameBytesMax.toString()} bytes, got ${bytes.toString()}`,
      );
  }
  return prefix + stream;
}

/** Returns a plain `Uint8Array`, because the driver would store a `Buffer` as JSON. */
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
 * Converts an event of the driver. The driver has parsed the metadata, and `JSON.stringify` restores the bytes that
 * this platform wrote.
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

/** The type of the server's last event in a permanently deleted stream. The event's revision is no safe integer. */
const tombstone = '$streamDeleted';

/** Decodes an event. Returns undefined for an event without a stream of this log (see `streamOf`). */
export function storedRecord(prefix: string, raw: RawRecord): StoredRecord | undefined {
  const stream = streamOf(prefix, raw);
  if (stream === undefined) return undefined;
  const { id, type, data } = raw;
  if (!raw.isBytes)
    throw new LogCorruptError(
      `event ${id} in ${raw.streamId} has the content type application/json: ledgerplane writes only binary data`,
    );
  const { metadata, place } = unmarked(raw);
  const [revision, position] = [streamRevision(raw.revision), positionOf(raw)];
  const endsAppend = place === undefined || place.index === place.of;
  return { event: { id, type, data, metadata, stream, revision, position, endsAppend }, place };
}

/** Returns the stream of an event in this log; undefined for other events and for tombstones. */
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
    throw new LogCorruptError(`event ${id} was written in a transaction, and therefore not by this program`);
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
    throw new LogCorruptError(`the $append member of event ${id} is invalid`);
  return { metadata: restOf(text, end + 1), place: { index: Number(index), of: Number(of) } };
}

/** Returns the metadata without the `$append` member. */
function restOf(text: Buffer, at: number): Uint8Array {
  if (text[at] !== comma) return Buffer.concat([text.subarray(0, 1), text.subarray(at)]);
  const packedStart = `"${packed}":"`;
  if (text.toString('latin1', at + 1, at + 1 + packedStart.length) === packedStart) {
    return Buffer.from(text.toString('latin1', at + 1 + packedStart.length, text.length - 2), 'base64');
  }
  // Replaces the comma after the `$append` member with the opening brace.
  const rest = Buffer.from(text.subarray(at));
  rest[0] = brace;
  return rest;
}
