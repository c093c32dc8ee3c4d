import type { IndexEntry, IndexKey } from '../../src/resource/type/index-entry.ts';

/**
 * Encodes index entries. Each entry is stored in its object's row, so that a start need not parse a million objects.
 *
 *   0  u32  stamp of the indexes' fingerprint, to detect entries of other declarations without decoding
 *   4  f64  created
 *  12  u8   length of the name, then the name (ASCII according to the rules for names)
 *   …  varint length, then the labels: key, value, …
 *   …  varint number of indexes, then for each index: varint length (0: no value), then the keys
 *
 * A text is the varint `2 × bytes + wide`, then the text in Latin-1 (`wide` is 0) or UTF-16 (`wide` is 1). UTF-8 cannot
 * encode all string keys, since string keys may be ill-formed Unicode (`stringKey`).
 *
 * The keys of an index start with their form: texts, numbers (f64), the name, or `created`. All numbers are
 * little-endian.
 */
export const nameAt = 12;

export const formTexts = 0;
export const formNumbers = 1;
export const formName = 2;
export const formCreated = 3;

const noKeys: readonly IndexKey[] = Object.freeze([]);
const beyondLatin1 = /[^\u0000-\u00ff]/;

/** Writes entries into a scratch buffer, so that encoding usually allocates only the record. */
export class EntryWriter {
  #bytes = Buffer.allocUnsafe(4_096);
  #at = 0;

  encode(entry: IndexEntry, stamp: number): Buffer {
    const { name, created, labels, keys } = entry;
    if (name.length > 0xff || beyondLatin1.test(name))
      throw new RangeError(`a name must be ASCII and at most 255 characters, got ${JSON.stringify(name)}`);
    this.#at = 0;
    this.#room(nameAt + 1 + name.length);
    this.#bytes.writeUInt32LE(stamp, 0);
    this.#bytes.writeDoubleLE(created, 4);
    this.#bytes[nameAt] = name.length;
    this.#at = nameAt + 1 + this.#bytes.write(name, nameAt + 1, 'latin1');
    let start = this.#beginBlock();
    for (const key in labels) {
      this.#text(key);
      this.#text(labels[key] ?? '');
    }
    this.#endBlock(start);
    this.#varint(keys.length);
    for (let index = 0; index < keys.length; index++) {
      start = this.#beginBlock();
      this.#keys(entry, keys[index] ?? noKeys);
      this.#endBlock(start);
    }
    const record = Buffer.allocUnsafe(this.#at);
    this.#bytes.copy(record, 0, 0, this.#at);
    return record;
  }

  #keys({ name, created }: IndexEntry, keys: readonly IndexKey[]): void {
    const [first] = keys;
    if (first === undefined) return;
    if (keys.length === 1 && first === name) this.#byte(formName);
    else if (keys.length === 1 && first === created) this.#byte(formCreated);
    else {
      this.#byte(typeof first === 'string' ? formTexts : formNumbers);
      for (let at = 0; at < keys.length; at++) {
        const key = keys[at];
        if (typeof key !== typeof first) throw new TypeError('the keys of one index must be of one type');
        if (typeof key === 'string') this.#text(key);
        else if (key !== undefined) this.#number(key);
      }
    }
  }

  /** Begins a block: a varint of the block's length, then its contents. Returns the start of the block. */
  #beginBlock(): number {
    const start = this.#at;
    this.#byte(0);
    return start;
  }

  #endBlock(start: number): void {
    const length = this.#at - start - 1;
    if (length < 0x80) {
      this.#bytes[start] = length;
      return;
    }
    this.#at = start;
    const body = Buffer.from(this.#bytes.subarray(start + 1, start + 1 + length));
    this.#varint(length);
    this.#room(length);
    this.#at += body.copy(this.#bytes, this.#at);
  }

  #text(text: string): void {
    const wide = beyondLatin1.test(text);
    const length = wide ? text.length * 2 : text.length;
    this.#varint(length * 2 + Number(wide));
    this.#room(length);
    this.#at += this.#bytes.write(text, this.#at, wide ? 'utf16le' : 'latin1');
  }

  #number(value: number): void {
    this.#room(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#byte((rest & 0x7f) | 0x80);
    this.#byte(rest);
  }

  #byte(byte: number): void {
    this.#room(1);
    this.#bytes[this.#at++] = byte;
  }

  #room(length: number): void {
    if (this.#at + length <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe((this.#at + length) * 2);
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}
