import { createHash } from 'node:crypto';
import type { IndexEntry, IndexKey } from '../../src/resource/type/index-entry.ts';
import { EntryWriter, formCreated, formName, formNumbers, formTexts, nameAt } from './entry-writer.ts';

/** The record is not a valid index entry, so the row is damaged. */
export class EntryCorruptError extends Error {
  constructor(what: string) {
    super(`an index entry is corrupt: ${what}`);
    this.name = 'EntryCorruptError';
  }
}

const writer = new EntryWriter();

/** `isWhole`: false if an index function failed for the object, so that the entry has no value for this index. */
export function encodeEntry(entry: IndexEntry, fingerprint: string, isWhole = true): Buffer {
  return writer.encode(entry, isWhole ? stampOf(fingerprint) : partial(stampOf(fingerprint)));
}

/** Whether `record` was encoded with `fingerprint` and `isWhole`. False if `record` is too short for an entry. */
export function isEntryUnder(record: Uint8Array, fingerprint: string, isWhole = true): boolean {
  if (record.length < nameAt) return false;
  const stamp = isWhole ? stampOf(fingerprint) : partial(stampOf(fingerprint));
  return (
    record[0] === (stamp & 0xff) &&
    record[1] === ((stamp >>> 8) & 0xff) &&
    record[2] === ((stamp >>> 16) & 0xff) &&
    record[3] === stamp >>> 24
  );
}

/** The stamp of an entry that lacks values because an index function failed. */
function partial(stamp: number): number {
  return ~stamp >>> 0;
}

let lastFingerprint = '';
let lastStamp = 0;

/**
 * Returns the first 32 bits of a fingerprint's SHA-256 digest. Caches the last result, since consecutive rows usually
 * have equal fingerprints.
 */
function stampOf(fingerprint: string): number {
  if (fingerprint !== lastFingerprint) {
    lastStamp = createHash('sha256').update(fingerprint).digest().readUInt32LE(0);
    lastFingerprint = fingerprint;
  }
  return lastStamp;
}

/** The maximum number of blocks in one cache. */
const sharedMax = 4_096;
/** The maximum length of a cached block in bytes, so that a hostile type cannot fill the memory. */
const sharedBytesMax = 512;

const noKeys: readonly IndexKey[] = Object.freeze([]);
const noLabels: Readonly<Record<string, string>> = Object.freeze({});

/** A cache of blocks and their decoded values. Even a million objects have few distinct labels, phases and owners. */
class Shared<T> {
  readonly #known = new Map<string, T>();
  /** The number of failed look-ups since the cache became full, minus the number of successful look-ups since then. */
  #misses = 0;

  get(block: string): T | undefined {
    const known = this.#known.get(block);
    if (known === undefined && this.#known.size === sharedMax) this.#misses += 1;
    else if (known !== undefined && this.#misses > 0) this.#misses -= 1;
    return known;
  }

  add(block: string, value: T): void {
    if (this.#known.size < sharedMax && block.length <= sharedBytesMax) this.#known.set(block, value);
  }

  isWorthSearching(): boolean {
    return this.#misses < sharedMax;
  }
}

/**
 * Decodes the entries of one type (layout: entry-writer.ts). Equal values share one string, array or object where the
 * caches allow, since values take most of the memory of a million entries.
 */
export class EntryDecoder {
  readonly #labels = new Shared<Readonly<Record<string, string>>>();
  /** The cache of keys for each index. */
  readonly #keys: Shared<readonly IndexKey[]>[] = [];
  readonly #texts = new Shared<string>();
  readonly #f64 = new Float64Array(1);
  /** Has the same memory as `#f64`, so that a number can be read byte by byte. */
  readonly #f64Bytes = new Uint8Array(this.#f64.buffer);
  #record: Buffer = Buffer.alloc(0);
  /**
   * The whole record as Latin-1, because one call into the engine is faster than one call for each block. A substring
   * of `#text` would keep the whole string in memory, so no substring may be returned.
   */
  #text = '';
  #at = 0;

  /** @throws EntryCorruptError if the record is not well-formed. */
  decode(record: Buffer): IndexEntry {
    this.#record = record;
    this.#text = record.toString('latin1');
    if (record.length <= nameAt) throw new EntryCorruptError(`the record has only ${String(record.length)} bytes`);
    const created = this.#number(4);
    this.#at = nameAt + 1;
    const name = this.#kept(this.#at, record[nameAt] ?? 0);
    const labels = this.#readLabels();
    const count = this.#varint();
    const keys: (readonly IndexKey[])[] = [];
    for (let index = 0; index < count; index++) keys.push(this.#readKeys(index, name, created));
    if (this.#at !== record.length)
      throw new EntryCorruptError(
        `the record has ${String(record.length)} bytes, but its content ends after ${String(this.#at)}`,
      );
    return { name, created, labels, keys };
  }

  #readLabels(): Readonly<Record<string, string>> {
    const end = this.#blockEnd();
    if (end === this.#at) return noLabels;
    const shared = this.#shared(this.#labels, end);
    if (shared !== undefined) return shared;
    const start = this.#at;
    const labels: Record<string, string> = {};
    while (this.#at < end) {
      const key = this.#sharedText();
      labels[key] = this.#sharedText();
    }
    if (this.#labels.isWorthSearching()) this.#labels.add(this.#slice(start, end), labels);
    return this.#ended(end, labels);
  }

  #readKeys(place: number, name: string, created: number): readonly IndexKey[] {
    const end = this.#blockEnd();
    if (end === this.#at) return noKeys;
    const form = this.#text.charCodeAt(this.#at);
    if (form === formName || form === formCreated) {
      this.#at += 1;
      return this.#ended(end, [form === formName ? name : created]);
    }
    const known = (this.#keys[place] ??= new Shared());
    const shared = this.#shared(known, end);
    if (shared !== undefined) return shared;
    const start = this.#at;
    this.#at += 1;
    const keys = form === formTexts ? this.#textKeys(end) : this.#numberKeys(form, end);
    if (known.isWorthSearching()) known.add(this.#slice(start, end), keys);
    return this.#ended(end, keys);
  }

  #textKeys(end: number): readonly IndexKey[] {
    const first = this.#ownText();
    if (this.#at >= end) return [first];
    const keys = [first];
    while (this.#at < end) keys.push(this.#sharedText());
    return keys;
  }

  #numberKeys(form: number, end: number): readonly IndexKey[] {
    if (form !== formNumbers) throw new EntryCorruptError(`the form ${String(form)} of keys is unknown`);
    const keys: number[] = [];
    for (; this.#at + 8 <= end; this.#at += 8) keys.push(this.#number(this.#at));
    return keys;
  }

  /**
   * Returns the decoded value of an equal cached block, and skips the block. Returns undefined and skips nothing if no
   * equal block is cached.
   */
  #shared<T>(known: Shared<T>, end: number): T | undefined {
    if (end - this.#at > sharedBytesMax || !known.isWorthSearching()) return undefined;
    const value = known.get(this.#text.slice(this.#at, end));
    if (value !== undefined) this.#at = end;
    return value;
  }

  #sharedText(): string {
    const start = this.#at;
    const header = this.#varint();
    const end = this.#at + (header >>> 1);
    const known = this.#texts.get(this.#text.slice(start, end));
    if (known !== undefined) {
      this.#at = end;
      return known;
    }
    this.#at = start;
    const text = this.#ownText();
    this.#texts.add(this.#slice(start, end), text);
    return text;
  }

  #ownText(): string {
    const header = this.#varint();
    return (header & 1) === 1 ? this.#wide(header >>> 1) : this.#kept(this.#at, header >>> 1);
  }

  #wide(length: number): string {
    const start = this.#at;
    this.#at += length;
    if (length % 2 === 1 || this.#at > this.#record.length)
      throw new EntryCorruptError('a text continues after the end of the record');
    return this.#record.toString('utf16le', start, this.#at);
  }

  /** Returns a flat copy of a text, so that the text does not keep the record in memory. */
  #kept(start: number, length: number): string {
    this.#at = start + length;
    if (this.#at > this.#record.length) throw new EntryCorruptError('a text continues after the end of the record');
    return this.#record.toString('latin1', start, this.#at);
  }

  #slice(start: number, end: number): string {
    return this.#record.toString('latin1', start, end);
  }

  #blockEnd(): number {
    const length = this.#varint();
    const end = this.#at + length;
    if (end > this.#record.length) throw new EntryCorruptError('a block continues after the end of the record');
    return end;
  }

  #ended<T>(end: number, value: T): T {
    if (this.#at !== end) throw new EntryCorruptError('the content of a block does not have the length of the block');
    return value;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#text.charCodeAt(this.#at++);
      // `byte` is NaN after the end of the record, so the loop ends with the error below.
      if (byte < 0x80) return value | (byte << shift);
      value |= (byte & 0x7f) << shift;
    }
    throw new EntryCorruptError('a length has too many bytes');
  }

  #number(at: number): number {
    for (let index = 0; index < 8; index++) this.#f64Bytes[index] = this.#text.charCodeAt(at + index);
    return this.#f64[0] ?? Number.NaN;
  }
}
