import type { Steps } from '../../../../src/base/steps.ts';
import type { IndexKey } from '../../../../src/resource/type/index-entry.ts';

/**
 * The distinct keys of a column, ascending: a key's place is its id. The keys of one index are texts or numbers, never
 * both.
 *
 * Encoded: `u32 count`, then of numbers `f64` each; of texts the ends (`u32` each), `u8` for each that is 1 for UTF-16
 * and 0 for Latin-1, and the texts. Index keys are not well-formed text, so UTF-8 cannot hold them.
 */
export type KeyDictionary = {
  readonly size: number;
  key(id: number): IndexKey;
  /** The id of the first key that is not before `key`; `size` if there is no such key. */
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

/** The keys at offset `at`, and the offset after them. Copies the keys, and decodes a text when it is read. */
export function decodeKeys(
  bytes: Buffer,
  at: number,
  isText: boolean,
): { readonly keys: KeyDictionary; readonly end: number } {
  const size = bytes.readUInt32LE(at);
  const start = at + 4;
  if (!isText) {
    const end = start + 8 * size;
    return { keys: new NumberKeys(new Float64Array(copied(bytes, start, end))), end };
  }
  const ends = new Uint32Array(copied(bytes, start, start + 4 * size));
  const wideAt = start + 4 * size;
  const textsAt = wideAt + size;
  const end = textsAt + (ends[size - 1] ?? 0);
  return { keys: new TextKeys(ends, Buffer.from(copied(bytes, wideAt, end))), end };
}

function copied(bytes: Buffer, from: number, to: number): ArrayBuffer {
  const copy = new Uint8Array(to - from);
  copy.set(bytes.subarray(from, to));
  return copy.buffer;
}

class NumberKeys implements KeyDictionary {
  readonly #numbers: Float64Array;

  constructor(numbers: Float64Array) {
    this.#numbers = numbers;
  }

  get size(): number {
    return this.#numbers.length;
  }

  key(id: number): number {
    return this.#numbers[id] ?? Infinity;
  }

  lower(key: IndexKey): number {
    return lowerOf(this, key);
  }
}

class TextKeys implements KeyDictionary {
  readonly #ends: Uint32Array;
  /** One byte for each text, 1 for UTF-16 and 0 for Latin-1; then the texts. */
  readonly #bytes: Buffer;
  /** The decoded texts by id: sorting reads a few texts many times. */
  readonly #known: string[] = [];

  constructor(ends: Uint32Array, bytes: Buffer) {
    this.#ends = ends;
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#ends.length;
  }

  key(id: number): string {
    return (this.#known[id] ??= this.#decoded(id));
  }

  lower(key: IndexKey): number {
    return lowerOf(this, key);
  }

  #decoded(id: number): string {
    const from = this.size + (id === 0 ? 0 : (this.#ends[id - 1] ?? 0));
    return this.#bytes.toString(this.#bytes[id] === 1 ? 'utf16le' : 'latin1', from, this.size + (this.#ends[id] ?? 0));
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
