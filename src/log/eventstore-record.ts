import type { EventData } from '@eventstore/db-client';

import { streamNameBytesMax } from '../limits.ts';
import { logAppendBytesMax } from './eventstore-limits.ts';
import { LogCorruptError, logPosition, streamRevision } from './log.ts';
import type { LogPosition, ProposedEvent, RecordedEvent, StreamName } from './log.ts';

/**
 * Our events as EventStoreDB keeps them, and back: binary data and JSON metadata, in streams whose names begin with
 * `ledgerplane-`, so that a filter keeps out whatever else is in there. An append of several events says so in a first
 * member of each one's metadata, `"$append":"2/3"`: the server keeps them together, but tells no reader where one ends.
 */
export const streamPrefix = 'ledgerplane-';

/** Before metadata that is no JSON object there is no room for the mark: it is kept in base64 beside it. */
const packed = '$bytes';

export type Place = { readonly index: number; readonly of: number };

export type StoredRecord = {
  readonly event: RecordedEvent;
  /** Of an append of several events; undefined: it was the only one. */
  readonly place: Place | undefined;
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
};

/** The most a place in the log can be: servers before 22.6 give it for every event that is read from its stream. */
const noPosition = 0x7fff_ffff_ffff_ffffn;

/** @throws RangeError when the server would not take it, before any of it is sent. */
export function driverEvents(events: readonly ProposedEvent[]): EventData[] {
  let bytes = 0;
  const packed = events.map((event, index) => {
    const metadata = events.length === 1 ? plainBytes(event.metadata) : marked(event.metadata, { index: index + 1, of: events.length });
    bytes += event.data.length + metadata.length + 2 * event.type.length;
    return { id: event.id, contentType: 'application/octet-stream' as const, type: event.type, data: plainBytes(event.data), metadata };
  });
  if (bytes > logAppendBytesMax) throw new RangeError(`an append holds at most ${logAppendBytesMax.toString()} bytes, got ${bytes.toString()}`);
  return packed;
}

/** @throws RangeError on a name that the other logs would not take either. */
export function driverStream(stream: StreamName): string {
  // No character takes more than three bytes a UTF-16 unit: most names need no counting.
  if (stream.length * 3 > streamNameBytesMax) {
    const bytes = Buffer.byteLength(stream);
    if (bytes > streamNameBytesMax) throw new RangeError(`a stream's name holds at most ${streamNameBytesMax.toString()} bytes, got ${bytes.toString()}`);
  }
  return streamPrefix + stream;
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

/** Undefined for an event of somebody else's. */
export function storedRecord(driver: DriverRecord): StoredRecord | undefined {
  const stream = streamOf(driver.streamId);
  if (stream === undefined) return undefined;
  const { metadata, place } = metadataOf(driver);
  const event = {
    id: driver.id, type: driver.type, data: dataOf(driver), metadata, stream,
    revision: streamRevision(Number(driver.revision)), position: positionOf(driver),
  };
  return { event, place };
}

function streamOf(streamId: string): StreamName | undefined {
  if (!streamId.startsWith(streamPrefix)) return undefined;
  const name = streamId.slice(streamPrefix.length);
  return /^[a-z]+:./su.test(name) ? name as StreamName : undefined;
}

export function positionOf({ id, position }: Pick<DriverRecord, 'id' | 'position'>): LogPosition {
  if (position === undefined || position.commit > noPosition) throw new LogCorruptError(`event ${id} has no position: the server is older than 22.6`);
  if (position.commit !== position.prepare) throw new LogCorruptError(`event ${id} was written in a transaction, which this program never does`);
  return logPosition(position.commit + 1n);
}

function dataOf({ id, data }: DriverRecord): Uint8Array {
  if (data instanceof Uint8Array) return data;
  throw new LogCorruptError(`event ${id} was not written as bytes`);
}

const nothing = new Uint8Array();

/** The driver has parsed what it could. Ours came from `JSON.stringify`, so it goes back to the same bytes. */
function metadataOf({ id, metadata }: DriverRecord): { readonly metadata: Uint8Array; readonly place: Place | undefined } {
  if (metadata === undefined) return { metadata: nothing, place: undefined };
  if (metadata instanceof Uint8Array) return { metadata, place: undefined };
  if (!hasMark(metadata)) return { metadata: Buffer.from(JSON.stringify(metadata)), place: undefined };
  const { $append, ...rest } = metadata;
  const [, index, of] = /^([1-9]\d{0,6})\/([1-9]\d{0,6})$/u.exec(String($append)) ?? [];
  if (index === undefined || Number(index) > Number(of)) throw new LogCorruptError(`event ${id} does not say where in its append it stands`);
  const bytes = typeof rest[packed] === 'string' ? Buffer.from(rest[packed], 'base64') : Buffer.from(JSON.stringify(rest));
  return { metadata: bytes, place: { index: Number(index), of: Number(of) } };
}

function hasMark(metadata: unknown): metadata is { readonly $append: unknown; readonly [packed]?: unknown } {
  return typeof metadata === 'object' && metadata !== null && '$append' in metadata;
}
