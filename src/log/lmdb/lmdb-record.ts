import { crc32 } from 'node:zlib';

import { streamNameBytesMax } from '../../limits/log.ts';
import { LogCorruptError, logPosition, streamName, streamRevision } from '../log.ts';
import type { LogPosition, ProposedEvent, RecordedEvent, StreamName, StreamRevision } from '../log.ts';

/**
 * The format of an event on disk. The checksum covers all following bytes, including the position, so that an
 * incomplete, damaged or misplaced record cannot be decoded.
 *
 * `crc32 u32 · flags u8 · position u48 · revision u48 · id length u8 · type length u8 · stream length u16 · data length
 * u32 · id · type · stream · data · metadata` (numbers big-endian, strings in UTF-8)
 */
const flagsAt = 4;
const positionAt = 5;
const revisionAt = 11;
const idLengthAt = 17;
const typeLengthAt = 18;
const streamLengthAt = 19;
const dataLengthAt = 21;
const headerBytes = 25;

/** Marks the last event of an append. */
const endsAppendFlag = 1;

/** The location of a record. Numbers, because bigints are much slower. */
export type RecordLocation = {
  readonly position: number;
  readonly revision: number;
  readonly endsAppend: boolean;
};

export function encodeRecord(stream: StreamName, event: ProposedEvent, place: RecordLocation): Buffer {
  const { id, type, data, metadata } = event;
  const idBytes = Buffer.byteLength(id);
  const typeBytes = Buffer.byteLength(type);
  const streamBytes = Buffer.byteLength(stream);
  if (idBytes > 255 || typeBytes > 255) {
    throw new RangeError(
      `an event's id and type must have at most 255 bytes, got ${idBytes.toString()} and ${typeBytes.toString()}`,
    );
  }
  const dataAt = headerBytes + idBytes + typeBytes + streamBytes;
  const record = Buffer.allocUnsafe(dataAt + data.length + metadata.length);
  record[flagsAt] = place.endsAppend ? endsAppendFlag : 0;
  record.writeUIntBE(place.position, positionAt, 6);
  record.writeUIntBE(place.revision, revisionAt, 6);
  record[idLengthAt] = idBytes;
  record[typeLengthAt] = typeBytes;
  record.writeUInt16BE(streamBytes, streamLengthAt);
  record.writeUInt32BE(data.length, dataLengthAt);
  record.write(id, headerBytes);
  record.write(type, headerBytes + idBytes);
  record.write(stream, headerBytes + idBytes + typeBytes);
  record.set(data, dataAt);
  record.set(metadata, dataAt + data.length);
  record.writeUInt32BE(crc32(record.subarray(flagsAt)), 0);
  return record;
}

/**
 * @throws RangeError for a name that is too long for a key. LMDB would refuse the key only after the record was
 * written.
 */
export function assertFits(stream: StreamName): void {
  // A UTF-16 unit has at most three bytes in UTF-8, so most names need not be measured.
  if (stream.length * 3 <= streamNameBytesMax) return;
  const bytes = Buffer.byteLength(stream);
  if (bytes > streamNameBytesMax)
    throw new RangeError(
      `a stream's name must have at most ${streamNameBytesMax.toString()} bytes, got ${bytes.toString()}`,
    );
}

type Offsets = {
  readonly typeAt: number;
  readonly streamAt: number;
  readonly dataAt: number;
  readonly metadataAt: number;
};

/** @throws LogCorruptError unless `record` is complete and belongs at `position`. */
function offsetsIn(record: Buffer, position: number): Offsets {
  const where = `the record at position ${position.toString()}`;
  if (record.length < headerBytes) throw new LogCorruptError(`${where} has only ${record.length.toString()} bytes`);
  if (record.readUInt32BE(0) !== crc32(record.subarray(flagsAt)))
    throw new LogCorruptError(`${where} has a wrong checksum`);
  const ownPosition = record.readUIntBE(positionAt, 6);
  if (ownPosition !== position) throw new LogCorruptError(`${where} belongs to position ${ownPosition.toString()}`);
  const typeAt = headerBytes + record.readUInt8(idLengthAt);
  const streamAt = typeAt + record.readUInt8(typeLengthAt);
  const dataAt = streamAt + record.readUInt16BE(streamLengthAt);
  const metadataAt = dataAt + record.readUInt32BE(dataLengthAt);
  if (metadataAt > record.length) throw new LogCorruptError(`${where} is shorter than its fields`);
  return { typeAt, streamAt, dataAt, metadataAt };
}

/** @throws LogCorruptError unless `record` is complete and belongs at `position`. */
export function decodeRecord(record: Buffer, position: number): RecordedEvent {
  const { typeAt, streamAt, dataAt, metadataAt } = offsetsIn(record, position);
  return {
    id: record.toString('utf8', headerBytes, typeAt),
    type: record.toString('utf8', typeAt, streamAt),
    data: record.subarray(dataAt, metadataAt),
    metadata: record.subarray(metadataAt),
    stream: streamName(record.toString('utf8', streamAt, dataAt)),
    revision: streamRevision(record.readUIntBE(revisionAt, 6)),
    position: logPosition(BigInt(position)),
    endsAppend: (record.readUInt8(flagsAt) & endsAppendFlag) !== 0,
  };
}

/**
 * A record in a reused buffer. Members that many readers do not need are decoded on access. `data` and `metadata` are
 * views, valid only until the buffer is reused.
 */
export class ScannedRecord implements RecordedEvent {
  readonly type: string;
  readonly stream: StreamName;
  readonly revision: StreamRevision;
  readonly endsAppend: boolean;
  readonly #record: Buffer;
  readonly #offsets: Offsets;
  readonly #position: number;
  readonly #shift: bigint;
  #id: string | undefined;
  #data: Buffer | undefined;
  #metadata: Buffer | undefined;

  /**
   * @param shift the offset that is added to the position.
   *
   * @throws LogCorruptError unless `record` is complete and belongs at `position`.
   */
  constructor(record: Buffer, position: number, shift: bigint) {
    const offsets = offsetsIn(record, position);
    this.#record = record;
    this.#offsets = offsets;
    this.#position = position;
    this.#shift = shift;
    this.type = record.toString('utf8', offsets.typeAt, offsets.streamAt);
    // The name is not validated, because the log accepts only valid names and the record has a checksum.
    this.stream = record.toString('utf8', offsets.streamAt, offsets.dataAt) as StreamName;
    this.revision = record.readUIntBE(revisionAt, 6) as StreamRevision;
    this.endsAppend = (record.readUInt8(flagsAt) & endsAppendFlag) !== 0;
  }

  get id(): string {
    this.#id ??= this.#record.toString('utf8', headerBytes, this.#offsets.typeAt);
    return this.#id;
  }

  get data(): Buffer {
    this.#data ??= this.#record.subarray(this.#offsets.dataAt, this.#offsets.metadataAt);
    return this.#data;
  }

  get metadata(): Buffer {
    this.#metadata ??= this.#record.subarray(this.#offsets.metadataAt);
    return this.#metadata;
  }

  get position(): LogPosition {
    return logPosition(BigInt(this.#position) + this.#shift);
  }
}
