import type { RawRecord } from './eventstore-record.ts';

/**
 * A decoded message of a subscription or filtered read (`ReadResp` in the driver's streams.proto). This module decodes
 * bytes directly, because the driver would create about twenty objects for each event and parse the metadata.
 */
export type WireAnswer = RawRecord | 'confirmed' | 'other';

const answer = { event: 1, confirmation: 2 } as const;
const resolved = { event: 1 } as const;
const recorded = {
  id: 1,
  stream: 2,
  revision: 3,
  prepare: 4,
  commit: 5,
  properties: 6,
  metadata: 7,
  data: 8,
} as const;
const uuid = { structured: 1, text: 2 } as const;
const structured = { most: 1, least: 2 } as const;
const streamIdentifier = { name: 3 } as const;
const property = { key: 1, value: 2 } as const;

const wireType = { varint: 0, eight: 1, bytes: 2, four: 5 } as const;
const nothing = Buffer.alloc(0);
/** The server's time unit is 0.1 microseconds. */
const ticksPerMs = 10_000;

/** Reads the fields of a protobuf message in order, without copying. */
class Cursor {
  readonly bytes: Buffer;
  /** The number of the current field. */
  field = 0;
  /** The offset of the first byte of a field of bytes. */
  start = 0;
  /** The offset after the last byte of a field of bytes. */
  end = 0;
  /** The lower 32 bits of a numeric field. */
  low = 0;
  /** The upper 32 bits of a numeric field. */
  high = 0;
  #at: number;
  readonly #limit: number;

  constructor(bytes: Buffer, start = 0, limit: number = bytes.length) {
    this.bytes = bytes;
    this.#at = start;
    this.#limit = limit;
  }

  next(): boolean {
    if (this.#at >= this.#limit) return false;
    this.#varint();
    this.field = this.low >>> 3;
    this.#value(this.low & 7);
    if (this.#at > this.#limit) throw new RangeError('a message of the server ends within a field');
    return true;
  }

  #value(type: number): void {
    if (type === wireType.varint) {
      this.#varint();
    } else if (type === wireType.bytes) {
      this.#varint();
      this.start = this.#at;
      this.end = this.#at += this.low;
    } else if (type === wireType.eight) {
      this.#at += 8;
    } else if (type === wireType.four) {
      this.#at += 4;
    } else {
      throw new RangeError(`a message of the server has the unknown wire type ${type.toString()}`);
    }
  }

  #varint(): void {
    let [low, high] = [0, 0];
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.bytes[this.#at];
      if (byte === undefined) throw new RangeError('a message of the server ends within a number');
      this.#at += 1;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) [low, high] = [low | (bits << 28), bits >>> 4];
      else high |= bits << (shift - 32);
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    throw new RangeError('a message of the server has a number of more than 64 bits');
  }

  inner(): Cursor {
    return new Cursor(this.bytes, this.start, this.end);
  }

  number(): number {
    return this.high * 4_294_967_296 + this.low;
  }

  /** Returns the exact value, even above 2^53. */
  bigint(): bigint {
    return this.high < 0x20_0000 ? BigInt(this.number()) : (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  slice(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }
}

/** @throws RangeError for malformed bytes. */
export function decodeAnswer(bytes: Buffer): WireAnswer {
  for (const cursor = new Cursor(bytes); cursor.next();) {
    if (cursor.field === answer.event) return decodeResolved(cursor.inner());
    if (cursor.field === answer.confirmation) return 'confirmed';
  }
  return 'other';
}

function decodeResolved(cursor: Cursor): WireAnswer {
  while (cursor.next()) {
    if (cursor.field === resolved.event) return decodeRecorded(cursor.inner());
  }
  return 'other';
}

type Mutable = { -readonly [Member in keyof RawRecord]: RawRecord[Member] };

function decodeRecorded(cursor: Cursor): RawRecord {
  const record: Mutable = {
    streamId: '',
    id: '',
    revision: 0,
    type: '',
    isBytes: true,
    data: nothing,
    metadata: nothing,
    commit: 0n,
    prepare: 0n,
    createdMs: 0,
  };
  while (cursor.next()) decodeMember(cursor, record);
  return record;
}

function decodeMember(cursor: Cursor, record: Mutable): void {
  switch (cursor.field) {
    case recorded.id:
      record.id = decodeUuid(cursor.inner());
      break;
    case recorded.stream:
      record.streamId = decodeStream(cursor.inner());
      break;
    case recorded.revision:
      record.revision = cursor.number();
      break;
    case recorded.prepare:
      record.prepare = cursor.bigint();
      break;
    case recorded.commit:
      record.commit = cursor.bigint();
      break;
    case recorded.properties:
      decodeProperty(cursor.inner(), record);
      break;
    case recorded.metadata:
      record.metadata = cursor.slice();
      break;
    case recorded.data:
      record.data = cursor.slice();
      break;
  }
}

function decodeUuid(cursor: Cursor): string {
  while (cursor.next()) {
    if (cursor.field === uuid.text) return cursor.text();
    if (cursor.field === uuid.structured) return decodeStructured(cursor.inner());
  }
  return '';
}

/** Decodes a UUID of two 64-bit halves. A half with the value 0 is absent from the message. */
function decodeStructured(cursor: Cursor): string {
  const halves = ['0000000000000000', '0000000000000000'];
  while (cursor.next()) {
    const hex = hexOf(cursor.high) + hexOf(cursor.low);
    if (cursor.field === structured.most) halves[0] = hex;
    if (cursor.field === structured.least) halves[1] = hex;
  }
  return halves.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-');
}

function hexOf(half: number): string {
  return half.toString(16).padStart(8, '0');
}

function decodeStream(cursor: Cursor): string {
  while (cursor.next()) if (cursor.field === streamIdentifier.name) return cursor.text();
  return '';
}

function decodeProperty(cursor: Cursor, record: Mutable): void {
  let key = '';
  while (cursor.next()) {
    if (cursor.field === property.key) key = cursor.text();
    else if (cursor.field === property.value && key === 'type') record.type = cursor.text();
    else if (cursor.field === property.value && key === 'created')
      record.createdMs = Math.floor(Number(cursor.text()) / ticksPerMs);
    else if (cursor.field === property.value && key === 'content-type')
      record.isBytes = cursor.text() !== 'application/json';
  }
}
