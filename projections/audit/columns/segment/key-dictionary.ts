import type { Steps } from '../../../../src/base/steps.ts';
import type { IndexKey } from '../../../../src/resource/type/index-entry.ts';

/**
 * The distinct keys of a column, in ascending order. The id of a key is its place in this order. The keys are all texts
 * or all numbers.
 *
 * Encoding, little-endian: the count (`u32`), then the keys. A number is encoded as `f64`. Texts have three parts: the
 * end offset of each text, relative to the first text (`u32`); the encoding of each text (`u8`: 0 for Latin-1, 1 for
 * UTF-16); the texts. UTF-8 cannot encode all keys, because keys may be ill-formed Unicode.
 */
export type KeyDictionary = {
  readonly size: number;
  key(id: number): IndexKey;
  /** The id of the first key that is not before `key`; `size` if all keys are before `key`. */
  lower(key: IndexKey): number;
};

const beyondLatin1 = /[^\u0000-\u00ff]/;

export function* encodeKeys(keys: readonly IndexKey[], isText: boolean): Steps<Buffer> {
  if (!isText) {
    const numbers = Float64Array.from(keys, Number);
    return Buffer.concat([countOf(keys), new Uint8Array(numbers.buffer)]);
  }
  const ends = new Uint32Array(keys.length);
  const wide = new Uint8Array(keys.length);
  const texts: Buffer[] = [];
  let end = 0;
  for (const [index, key] of keys.entries()) {
    const text = String(key);
    wide[index] = Number(beyondLatin1.test(text));
    const bytes = Buffer.from(text, wide[index] === 1 ? 'utf16le' : 'latin1');
    end += bytes.length;
    ends[index] = end;
    texts.push(bytes);
    if (index % 256 === 255) yield;
  }
  return Buffer.concat([countOf(keys), new Uint8Array(ends.buffer), wide, ...texts]);
}

function countOf(keys: readonly IndexKey[]): Buffer {
  const count = Buffer.allocUnsafe(4);
  count.writeUInt32LE(keys.length);
  return count;
}

type DecodedDictionary = {
  readonly keys: KeyDictionary;
  readonly end: number;
};

/** The keys at offset `at`, and the offset after the keys. A key is decoded from `bytes` only when the key is read. */
export function decodeKeys(bytes: Buffer, at: number, isText: boolean): DecodedDictionary {
  const size = bytes.readUInt32LE(at);
  const start = at + 4;
  if (!isText) return { keys: new NumberKeys(bytes, start, size), end: start + 8 * size };
  const keys = new TextKeys(bytes, start, size);
  return { keys, end: keys.end };
}

class NumberKeys implements KeyDictionary {
  readonly size: number;
  readonly #bytes: Buffer;
  readonly #start: number;

  constructor(bytes: Buffer, start: number, size: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.size = size;
  }

  key(id: number): number {
    return this.#bytes.readDoubleLE(this.#start + 8 * id);
  }

  lower(key: IndexKey): number {
    return lowerOf(this, key);
  }
}

class TextKeys implements KeyDictionary {
  readonly size: number;
  readonly #bytes: Buffer;
  /** The offset of the texts' end offsets. The texts' encodings and the texts follow. */
  readonly #start: number;

  constructor(bytes: Buffer, start: number, size: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.size = size;
  }

  /** The offset after the texts. */
  get end(): number {
    return this.#endOf(this.size - 1);
  }

  key(id: number): string {
    const isWide = this.#bytes[this.#start + 4 * this.size + id] === 1;
    return this.#bytes.toString(isWide ? 'utf16le' : 'latin1', this.#endOf(id - 1), this.#endOf(id));
  }

  lower(key: IndexKey): number {
    return lowerOf(this, key);
  }

  /** The offset after a text; for -1, the offset of the first text. */
  #endOf(id: number): number {
    const texts = this.#start + 5 * this.size;
    return id < 0 ? texts : texts + this.#bytes.readUInt32LE(this.#start + 4 * id);
  }
}

function lowerOf(keys: KeyDictionary, key: IndexKey): number {
  let low = 0;
  let high = keys.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys.key(middle) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
