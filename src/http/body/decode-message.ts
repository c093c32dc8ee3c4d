import { isUtf8 } from 'node:buffer';

import protobuf from 'protobufjs/minimal.js';

import type { Json } from '../../base/json.ts';

/** The fields of a protobuf message by number. Unknown fields are skipped, as usual in protobuf. */
export type MessageShape = { readonly [fieldNumber: number]: Field };

export type Field =
  { readonly name: string; readonly type: 'string' | 'bool' | 'integer' } | NestedField | RepeatedField;

type NestedField = {
  readonly name: string;
  readonly type: 'message';
  readonly shape: MessageShape;
};
type RepeatedField = {
  readonly name: string;
  readonly type: 'strings';
};

/** The members in the message's JSON form. */
type Members = { [name: string]: Json };

/**
 * Decodes an untrusted message in proto2 encoding. Refuses input that two readers could interpret differently (decision
 * 0007), for example a repeated value of a single-valued field, or malformed UTF-8. Refuses groups, because groups
 * could nest without limit.
 */
export function decodeMessage(
  bytes: Uint8Array,
  shape: MessageShape,
):
  | { readonly ok: true; readonly value: { readonly [name: string]: Json } }
  | { readonly ok: false; readonly detail: string } {
  try {
    return { ok: true, value: new MessageReader(bytes).message(shape, '') };
  } catch (error) {
    if (error instanceof MalformedMessage) return { ok: false, detail: error.message };
    // The library throws a RangeError if a value is longer than the input.
    if (error instanceof RangeError) return { ok: false, detail: cutShort };
    throw error;
  }
}

const cutShort = 'the message is truncated';

class MalformedMessage extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = 'MalformedMessage';
  }
}

const varint = 0,
  fixed64 = 1,
  delimited = 2,
  fixed32 = 5;
const varintBytesMax = 10;
const lengthBytesMax = 5;

class MessageReader {
  readonly #reader: protobuf.Reader;

  constructor(bytes: Uint8Array) {
    this.#reader = new protobuf.Reader(bytes);
  }

  /** `path` is the path of the message in its parents, for refusals. */
  message(shape: MessageShape, path: string): Members {
    const members: Members = {};
    const lists = new Map<string, string[]>();
    while (this.#reader.pos < this.#reader.len) {
      const tag = this.#uint32();
      const number = tag >>> 3;
      if (number === 0) throw new MalformedMessage(`field 0 ${within(path)} is not valid protobuf`);
      const field = shape[number];
      const wireType = tag & 7;
      if (field === undefined) {
        this.#skip(wireType, path);
        continue;
      }
      const place = path === '' ? field.name : `${path}.${field.name}`;
      checkWireType(field, wireType, place);
      if (field.type === 'strings') {
        const list = lists.get(field.name) ?? [];
        lists.set(field.name, list);
        list.push(this.#string(place));
        members[field.name] = list;
      } else {
        if (members[field.name] !== undefined) throw new MalformedMessage(`${place} appears twice`);
        members[field.name] = this.#value(field, place);
      }
    }
    return members;
  }

  #value(field: Exclude<Field, RepeatedField>, path: string): Json {
    switch (field.type) {
      case 'message':
        return new MessageReader(this.#bytes()).message(field.shape, path);
      case 'string':
        return this.#string(path);
      case 'bool':
        return this.#integer(path) !== 0;
      case 'integer':
        return this.#integer(path);
    }
  }

  #string(path: string): string {
    const bytes = this.#bytes();
    if (!isUtf8(bytes)) throw new MalformedMessage(`${path} is not valid UTF-8`);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  }

  #bytes(): Uint8Array {
    const length = this.#uint32();
    const start = this.#reader.pos;
    this.#reader.skip(length);
    return this.#reader.buf.subarray(start, start + length);
  }

  #uint32(): number {
    const bytes = this.#varintBytes(lengthBytesMax);
    // Refuses a tag or length of more than 32 bits, because the library drops the higher bits.
    if (bytes === lengthBytesMax && (this.#reader.buf[this.#reader.pos + bytes - 1] ?? 0) > 0x0f)
      throw new MalformedMessage('a tag or length has more than 32 bits');
    return this.#reader.uint32();
  }

  /** Reads a signed 64-bit integer. Throws MalformedMessage if JSON cannot represent the number exactly. */
  #integer(path: string): number {
    this.#varintBytes(varintBytesMax);
    const value = Number(this.#reader.int64());
    if (!Number.isSafeInteger(value)) throw new MalformedMessage(`${path} is too large`);
    return value;
  }

  #skip(wireType: number, path: string): void {
    if (wireType === varint) this.#reader.skip(this.#varintBytes(varintBytesMax));
    else if (wireType === fixed64) this.#reader.skip(8);
    else if (wireType === delimited) this.#bytes();
    else if (wireType === fixed32) this.#reader.skip(4);
    else throw new MalformedMessage(`a field ${within(path)} has the unknown wire type ${String(wireType)}`);
  }

  /**
   * Returns the number of bytes of the next varint. Refuses a truncated varint, because the library does not detect
   * every one.
   */
  #varintBytes(bytesMax: number): number {
    const { buf, pos, len } = this.#reader;
    for (let bytes = 1; bytes <= bytesMax; bytes += 1) {
      const byte = buf[pos + bytes - 1];
      if (byte === undefined || pos + bytes > len) throw new MalformedMessage(cutShort);
      if (byte < 0x80) return bytes;
    }
    throw new MalformedMessage(`a number is longer than ${String(bytesMax)} bytes`);
  }
}

function checkWireType({ type }: Field, wireType: number, place: string): void {
  const expected = type === 'bool' || type === 'integer' ? varint : delimited;
  if (wireType !== expected)
    throw new MalformedMessage(`${place} has the wire type ${String(wireType)}, must have ${String(expected)}`);
}

function within(path: string): string {
  return path === '' ? 'of the message' : `in ${path}`;
}
