import { createHash } from 'node:crypto';
import type { IndexEntry, IndexKey } from '../src/resource/index-entry.ts';

/**
 * Index entries as bytes, kept beside their rows so that a start need not parse a million objects.
 *
 *   0  u32  stamp of the indexes' fingerprint: what was made under other declarations is told apart without decoding
 *   4  f64  created
 *  12  u8   length of the name, then the name (ASCII by the naming rules)
 *   …  varint length, then the labels: key, value, …
 *   …  varint number of indexes, then each: varint length (0: no value), then its keys
 *
 * A text is varint `2 × bytes + wide` and Latin-1, or UTF-16 when wide: keys of strings are no well-formed text (stringKey).
 * An index's keys begin with their form: texts, numbers (f64), or that they repeat the name or `created`. Little-endian.
 */
const nameAt = 12;

const formTexts = 0;
const formNumbers = 1;
const formName = 2;
const formCreated = 3;

/** A record that is no index entry: the row holding it is damaged. */
export class EntryCorruptError extends Error {}

export function encodeEntry(entry: IndexEntry, fingerprint: string): Buffer {
  const name = Buffer.from(entry.name, 'latin1');
  if (name.length > 0xff || name.toString('latin1') !== entry.name) throw new RangeError(`a name must be ASCII and at most 255 characters, got ${JSON.stringify(entry.name)}`);
  const start = Buffer.allocUnsafe(nameAt + 1);
  start.writeUInt32LE(stampOf(fingerprint), 0);
  start.writeDoubleLE(entry.created, 4);
  start[nameAt] = name.length;
  const parts = [start, name, ...block(Object.entries(entry.labels).flat().map(encodeText)), varint(entry.keys.length)];
  for (const keys of entry.keys) parts.push(...block(encodeKeys(entry, keys)));
  return Buffer.concat(parts);
}

/** Whether `record` was made under `fingerprint`. False for what is no record at all. */
export function isEntryUnder(record: Uint8Array, fingerprint: string): boolean {
  if (record.length < nameAt) return false;
  const stamp = stampOf(fingerprint);
  return record[0] === (stamp & 0xff) && record[1] === (stamp >>> 8 & 0xff) && record[2] === (stamp >>> 16 & 0xff) && record[3] === stamp >>> 24;
}

let lastFingerprint = '';
let lastStamp = 0;

/** Asked once a row with the same fingerprint for many rows. */
function stampOf(fingerprint: string): number {
  if (fingerprint !== lastFingerprint) {
    lastStamp = createHash('sha256').update(fingerprint).digest().readUInt32LE(0);
    lastFingerprint = fingerprint;
  }
  return lastStamp;
}

function encodeKeys({ name, created }: IndexEntry, keys: readonly IndexKey[]): readonly Buffer[] {
  if (keys.length === 0) return [];
  if (keys.length === 1 && keys[0] === name) return [Buffer.of(formName)];
  if (keys.length === 1 && keys[0] === created) return [Buffer.of(formCreated)];
  const numbers = keys.filter((key) => typeof key === 'number');
  if (numbers.length === 0) return [Buffer.of(formTexts), ...keys.map((key) => encodeText(String(key)))];
  if (numbers.length !== keys.length) throw new TypeError('the keys of one index must be of one type');
  const bytes = Buffer.allocUnsafe(1 + 8 * numbers.length);
  bytes[0] = formNumbers;
  numbers.forEach((key, place) => bytes.writeDoubleLE(key, 1 + 8 * place));
  return [bytes];
}

/** Each text of these begins a fresh varint, so a block needs its length only to be skipped or recognised whole. */
function block(parts: readonly Buffer[]): readonly Buffer[] {
  return [varint(parts.reduce((sum, part) => sum + part.length, 0)), ...parts];
}

const beyondLatin1 = /[^\u0000-\u00ff]/;

function encodeText(text: string): Buffer {
  const wide = beyondLatin1.test(text);
  const bytes = Buffer.from(text, wide ? 'utf16le' : 'latin1');
  return Buffer.concat([varint(bytes.length * 2 + Number(wide)), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push(rest & 0x7f | 0x80);
    rest >>>= 7;
  }
  return Buffer.from([...bytes, rest]);
}

/** How many distinct contents of one block are kept for sharing; what has more of them is not worth it. */
const sharedMax = 4_096;
/** Longer blocks are not kept: with `sharedMax` this bounds what one hostile type can make a decoder hold. */
const sharedBytesMax = 512;

const noKeys: readonly IndexKey[] = Object.freeze([]);
const noLabels: Readonly<Record<string, string>> = Object.freeze({});

/** Blocks of bytes met before, with what they decoded to: a million objects hold few distinct labels, phases and owners. */
class Shared<T> {
  readonly #known = new Map<string, T>();
  /** Look-ups that found nothing after the map was full: many of them, and it is not asked any more. */
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

  worthAsking(): boolean {
    return this.#misses < sharedMax;
  }
}

/**
 * Decodes the entries of one type. What repeats among them is one string, one array, one object in all of them: that is
 * what a million entries cost when kept.
 */
export class EntryDecoder {
  readonly #labels = new Shared<Readonly<Record<string, string>>>();
  /** By place of the index. */
  readonly #keys: Shared<readonly IndexKey[]>[] = [];
  readonly #texts = new Shared<string>();
  readonly #f64 = new Float64Array(1);
  /** The bytes of `#f64`. */
  readonly #f64Bytes = new Uint8Array(this.#f64.buffer);
  #record: Buffer = Buffer.alloc(0);
  /** The whole record as Latin-1: one call into the engine instead of one a block. Never kept: a part of it would keep all of it. */
  #text = '';
  #at = 0;

  /** Throws `EntryCorruptError` for anything `encodeEntry` did not write. */
  decode(record: Buffer): IndexEntry {
    this.#record = record;
    this.#text = record.toString('latin1');
    if (record.length <= nameAt) throw new EntryCorruptError(`an index entry of ${String(record.length)} bytes`);
    const created = this.#number(4);
    this.#at = nameAt + 1;
    const name = this.#kept(this.#at, record[nameAt] ?? 0);
    const labels = this.#readLabels();
    const count = this.#varint();
    const keys: (readonly IndexKey[])[] = [];
    for (let place = 0; place < count; place++) keys.push(this.#readKeys(place, name, created));
    if (this.#at !== record.length) throw new EntryCorruptError(`an index entry of ${String(record.length)} bytes ends at ${String(this.#at)}`);
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
    if (this.#labels.worthAsking()) this.#labels.add(this.#slice(start, end), labels);
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
    const known = this.#keys[place] ??= new Shared();
    const shared = this.#shared(known, end);
    if (shared !== undefined) return shared;
    const start = this.#at;
    this.#at += 1;
    const keys = form === formTexts ? this.#textKeys(end) : this.#numberKeys(form, end);
    if (known.worthAsking()) known.add(this.#slice(start, end), keys);
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
    if (form !== formNumbers) throw new EntryCorruptError(`an index entry holds keys of the form ${String(form)}`);
    const keys: number[] = [];
    for (; this.#at + 8 <= end; this.#at += 8) keys.push(this.#number(this.#at));
    return keys;
  }

  /** What this block decoded to before, with the place moved past it. */
  #shared<T>(known: Shared<T>, end: number): T | undefined {
    if (end - this.#at > sharedBytesMax || !known.worthAsking()) return undefined;
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
    if (length % 2 === 1 || this.#at > this.#record.length) throw new EntryCorruptError('a text of an index entry is cut off');
    return this.#record.toString('utf16le', start, this.#at);
  }

  /** A string of its own, with nothing of the record behind it. */
  #kept(start: number, length: number): string {
    this.#at = start + length;
    if (this.#at > this.#record.length) throw new EntryCorruptError('a text of an index entry is cut off');
    return this.#record.toString('latin1', start, this.#at);
  }

  #slice(start: number, end: number): string {
    return this.#record.toString('latin1', start, end);
  }

  #blockEnd(): number {
    const length = this.#varint();
    const end = this.#at + length;
    if (end > this.#record.length) throw new EntryCorruptError('an index entry is cut off');
    return end;
  }

  #ended<T>(end: number, value: T): T {
    if (this.#at !== end) throw new EntryCorruptError('a block of an index entry does not end where it should');
    return value;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#text.charCodeAt(this.#at++);
      // NaN past the end: it fails both tests and the loop runs out.
      if (byte < 0x80) return value | byte << shift;
      value |= (byte & 0x7f) << shift;
    }
    throw new EntryCorruptError('a length of an index entry does not end');
  }

  #number(at: number): number {
    for (let place = 0; place < 8; place++) this.#f64Bytes[place] = this.#text.charCodeAt(at + place);
    return this.#f64[0] ?? Number.NaN;
  }
}
