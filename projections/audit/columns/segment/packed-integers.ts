/** Whole numbers >= 0, in the narrowest array that holds all of them. */
export type Integers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

const constant = 0;

/** `u8 width in bytes, u32 count, values`, little-endian; of equal values (width 0) only the first as `f64`. */
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
  packed[0] = isConstant ? constant : narrow.BYTES_PER_ELEMENT;
  packed.writeUInt32LE(count, 1);
  packed.set(new Uint8Array(narrow.buffer, narrow.byteOffset, narrow.byteLength), 5);
  return packed;
}

function narrowest(values: ArrayLike<number>, greatest: number): Integers {
  if (greatest < 0x100) return Uint8Array.from(values);
  if (greatest < 0x1_0000) return Uint16Array.from(values);
  return greatest < 0x1_0000_0000 ? Uint32Array.from(values) : Float64Array.from(values);
}

/** The numbers at offset `at`, and the offset after them. The array is a copy. */
export function unpackIntegers(bytes: Buffer, at: number): { readonly values: Integers; readonly end: number } {
  const width = bytes[at] ?? constant;
  const count = bytes.readUInt32LE(at + 1);
  const start = at + 5;
  if (width === constant) {
    const value = bytes.readDoubleLE(start);
    const end = start + 8;
    return { values: value < 0x100 ? filledBytes(count, value) : new Float64Array(count).fill(value), end };
  }
  const end = start + count * width;
  const { buffer } = Uint8Array.prototype.slice.call(bytes, start, end);
  switch (width) {
    case 1:
      return { values: new Uint8Array(buffer), end };
    case 2:
      return { values: new Uint16Array(buffer), end };
    case 4:
      return { values: new Uint32Array(buffer), end };
    default:
      return { values: new Float64Array(buffer), end };
  }
}

function filledBytes(count: number, value: number): Uint8Array {
  const bytes = new Uint8Array(count);
  return value === 0 ? bytes : bytes.fill(value);
}
