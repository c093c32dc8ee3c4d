/** Whole numbers >= 0, in the narrowest array that holds all of them. */
type Integers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

const constantWidth = 0;

/**
 * Encodes numbers as their width in bytes (`u8`), their count (`u32`) and the values, little-endian. If all numbers are
 * equal, the width is 0, and the number is stored once, as `f64`.
 */
export function packIntegers(values: ArrayLike<number>): Buffer {
  const count = values.length;
  let greatest = 0;
  let isConstant = true;
  for (let index = 0; index < count; index++) {
    const value = values[index] ?? 0;
    if (value > greatest) greatest = value;
    if (value !== values[0]) isConstant = false;
  }
  const narrow = isConstant ? Float64Array.of(values[0] ?? 0) : narrowest(values, greatest);
  const packed = Buffer.allocUnsafe(5 + narrow.byteLength);
  packed[0] = isConstant ? constantWidth : narrow.BYTES_PER_ELEMENT;
  packed.writeUInt32LE(count, 1);
  packed.set(new Uint8Array(narrow.buffer, narrow.byteOffset, narrow.byteLength), 5);
  return packed;
}

function narrowest(values: ArrayLike<number>, greatest: number): Integers {
  if (greatest < 0x100) return Uint8Array.from(values);
  if (greatest < 0x1_0000) return Uint16Array.from(values);
  return greatest < 0x1_0000_0000 ? Uint32Array.from(values) : Float64Array.from(values);
}

/**
 * Packed numbers that are read from the bytes of a segment without a copy, so that lists leave little garbage. The
 * numbers are valid as long as the bytes.
 */
export class PackedIntegers {
  readonly length: number;
  /** The offset after the numbers. */
  readonly end: number;
  /** The value of all numbers; undefined if the numbers differ. */
  readonly constant: number | undefined;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #width: number;

  /**
   * Reads the numbers at offset `at`.
   *
   * @throws RangeError if the bytes are truncated.
   */
  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#width = bytes.readUInt8(at);
    this.length = bytes.readUInt32LE(at + 1);
    this.#start = at + 5;
    this.constant = this.#width === constantWidth ? bytes.readDoubleLE(this.#start) : undefined;
    this.end = this.#start + (this.constant === undefined ? this.length * this.#width : 8);
    if (this.end > bytes.length) throw new RangeError('the packed numbers are truncated');
  }

  /** The number at an index below `length`. */
  at(index: number): number {
    const bytes = this.#bytes;
    switch (this.#width) {
      case constantWidth:
        return this.constant ?? 0;
      case 1:
        return bytes[this.#start + index] ?? 0;
      case 2: {
        const at = this.#start + 2 * index;
        return (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 0x100;
      }
      case 4:
        return bytes.readUInt32LE(this.#start + 4 * index);
      default:
        return bytes.readDoubleLE(this.#start + 8 * index);
    }
  }
}
