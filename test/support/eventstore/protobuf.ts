/**
 * The part of protobuf's wire format that the messages with events need. The generated code decodes these messages
 * member by member, so this server would be slower than the one that it is compared with.
 */

/**
 * Writes a message from its end to its beginning, so that the length of a member is known before its header is written.
 */
export class BackwardWriter {
  #bytes: Buffer;
  #at: number;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
    this.#at = size;
  }

  /** The number of written bytes; the length of a member is the difference of two values. */
  get written(): number {
    return this.#bytes.length - this.#at;
  }

  varint(value: number | bigint): void {
    const digits: number[] = [];
    let rest = BigInt(value);
    while (rest >= 128n) {
      digits.push(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    digits.push(Number(rest));
    this.#reserve(digits.length);
    for (const [index, digit] of digits.entries()) this.#bytes[this.#at + index] = digit;
  }

  /** Writes an integer below 2^53 without converting it to a bigint. */
  whole(value: number): void {
    let length = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length += 1;
    this.#reserve(length);
    let rest = value;
    for (let index = 0; index < length - 1; index += 1) {
      this.#bytes[this.#at + index] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#at + length - 1] = rest;
  }

  number(field: number, value: number | bigint): void {
    if (typeof value === 'bigint') this.varint(value);
    else this.whole(value);
    this.whole(field * 8);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#at);
    this.whole(value.length);
    this.whole(field * 8 + 2);
  }

  text(field: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#bytes.write(value, this.#at);
    this.whole(length);
    this.whole(field * 8 + 2);
  }

  /** Encloses the bytes that were written since `mark` in a member. */
  enclose(field: number, mark: number): void {
    this.whole(this.written - mark);
    this.whole(field * 8 + 2);
  }

  finish(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  #reserve(length: number): void {
    this.#at -= length;
    if (this.#at >= 0) return;
    const grown = Buffer.allocUnsafe(this.#bytes.length * 2 + length);
    const at = grown.length - (this.#bytes.length - this.#at - length);
    this.#bytes.copy(grown, at, this.#at + length);
    this.#bytes = grown;
    this.#at = at - length;
  }
}

export type Member = { readonly field: number; readonly number: bigint; readonly bytes: Buffer };

const nothing = Buffer.alloc(0);

/** Yields the members of a message in order. Numbers of a fixed width are not supported, since no message has one. */
export function* membersOf(message: Buffer): Generator<Member> {
  let at = 0;
  const whole = (): number => {
    let value = 0;
    let factor = 1;
    for (;;) {
      const digit = message[at] ?? 0;
      at += 1;
      value += (digit & 127) * factor;
      if (digit < 128) return value;
      factor *= 128;
    }
  };
  const varint = (): bigint => {
    const from = at;
    const small = whole();
    if (small <= Number.MAX_SAFE_INTEGER) return BigInt(small);
    let value = 0n;
    for (let index = at - 1; index >= from; index -= 1) value = (value << 7n) | BigInt((message[index] ?? 0) & 127);
    return BigInt.asUintN(64, value);
  };
  while (at < message.length) {
    const tag = whole();
    const field = Math.floor(tag / 8);
    if (tag % 8 === 0) {
      yield { field, number: varint(), bytes: nothing };
    } else if (tag % 8 === 2) {
      const length = whole();
      if (at + length > message.length) throw new RangeError('a member is cut short');
      yield { field, number: 0n, bytes: message.subarray(at, at + length) };
      at += length;
    } else {
      throw new RangeError(`wire type ${(tag % 8).toString()} is not read`);
    }
  }
}

/** Returns the member `field` of a message as bytes. */
export function memberOf(message: Buffer, field: number): Buffer | undefined {
  for (const member of membersOf(message)) if (member.field === field) return member.bytes;
  return undefined;
}
