import type { Steps } from '../src/base/steps.ts';
import type { IndexKey } from '../src/resource/index-entry.ts';
import type { KeyColumn } from './index-columns.ts';
import type { IndexRows, Tie } from './index-rows.ts';

/**
 * One order of a type's objects, ascending by key, then by the tie-break, in chunks. A place in it is its rank, so the size
 * of any range of keys is a subtraction.
 *
 * An object has one posting, or one a key in a multi-valued order; there the postings of its least and of its greatest key
 * are marked, so that a walk in either direction meets each object once.
 */
export type Chunk = {
  /** Postings in order; as many as `length` are used. */
  ordinals: Uint32Array;
  /** Keys beside the postings where an object may have several; elsewhere they are read from the column. */
  readonly keys: IndexKey[] | undefined;
  length: number;
  /** The key of the last posting: a search over chunks reads nothing else of them. */
  last: IndexKey;
};

export const chunkPostingsMax = 512;
/** Full but for some room, so that the first writes after a load do not split every chunk. */
const loadedPostings = 448;

/** A posting is an ordinal and these two marks. */
export const leastMark = 0x40000000;
export const greatestMark = 0x20000000;
export const ordinalMask = 0x1fffffff;

/** Where an order's keys come from: nowhere (the default order), one a row, or one a posting. */
export type KeySource = { readonly kind: 'none' } | { readonly kind: 'column'; readonly column: KeyColumn } | { readonly kind: 'posting' };

type Probe = Tie & { readonly key: IndexKey };
/** Asked with the key at the offset. */
type IsBefore = (key: IndexKey, chunk: Chunk, offset: number) => boolean;
type Spot = { readonly chunk: number; readonly offset: number };
/** Answers false to stop. */
export type Visit = (chunk: Chunk, from: number, to: number) => boolean;

export class OrderedSequence {
  readonly #rows: IndexRows;
  readonly #column: KeyColumn | undefined;
  readonly #keyed: boolean;
  /** None is empty. */
  #chunks: Chunk[] = [];
  #size = 0;
  /** The rank of each chunk's first posting; undefined after a change. */
  #starts: Uint32Array | undefined;

  constructor(rows: IndexRows, source: KeySource) {
    this.#rows = rows;
    this.#column = source.kind === 'column' ? source.column : undefined;
    this.#keyed = source.kind === 'posting';
  }

  get size(): number {
    return this.#size;
  }

  /** Takes postings that are in order already, instead of what it holds. It must not be read before the last step. */
  *load(postings: Uint32Array, keyAt: (rank: number) => IndexKey): Steps<undefined> {
    this.#chunks = [];
    for (let start = 0; start < postings.length; start += loadedPostings) {
      if (start > 0) yield;
      const length = Math.min(loadedPostings, postings.length - start);
      const ordinals = new Uint32Array(chunkPostingsMax);
      ordinals.set(postings.subarray(start, start + length));
      const keys = this.#keyed ? Array.from({ length }, (_, place) => keyAt(start + place)) : undefined;
      this.#chunks.push(this.#sealed({ ordinals, keys, length, last: 0 }));
    }
    this.#size = postings.length;
    this.#starts = undefined;
  }

  /** The row at the posting's ordinal must hold its keys already. */
  insert(posting: number, key: IndexKey): void {
    const spot = this.#find(this.#beforeProbe(posting, key));
    const chunk = this.#roomAt(spot);
    const { at, offset } = chunk;
    at.ordinals.copyWithin(offset + 1, offset, at.length);
    at.ordinals[offset] = posting;
    at.keys?.splice(offset, 0, sharedKey(at.keys, offset, key));
    at.length += 1;
    this.#sealed(at);
    this.#size += 1;
    this.#starts = undefined;
  }

  /** The row at the posting's ordinal must still hold its keys. */
  remove(posting: number, key: IndexKey): void {
    const { chunk: place, offset } = this.#find(this.#beforeProbe(posting, key));
    const chunk = this.#chunks[place];
    if (chunk?.ordinals[offset] !== posting) throw new Error(`invariant broken: an order holds every key of its rows, ${JSON.stringify(key)} of ${this.#rows.name(posting & ordinalMask)} is missing`);
    chunk.ordinals.copyWithin(offset, offset + 1, chunk.length);
    chunk.keys?.splice(offset, 1);
    chunk.length -= 1;
    this.#size -= 1;
    this.#starts = undefined;
    this.#sealed(chunk);
    if (chunk.length < chunkPostingsMax / 4) this.#shrink(place);
  }

  /** The first rank whose key is not before `key`. */
  lower(key: IndexKey): number {
    return this.#rank(this.#find((at) => at < key));
  }

  /** The first rank whose key is after `key`. */
  upper(key: IndexKey): number {
    return this.#rank(this.#find((at) => at <= key));
  }

  /** The first rank whose key neither is before `prefix` nor begins with it. */
  beyondPrefix(prefix: string): number {
    return this.#rank(this.#find((key) => key < prefix || String(key).startsWith(prefix)));
  }

  /** The first rank after the place of `key` and `tie`, whether or not an object stands there. */
  after(key: IndexKey, tie: Tie): number {
    const probe = { key, ...tie };
    return this.#rank(this.#find((at, chunk, offset) => this.#compare(at, { chunk, offset }, probe) <= 0));
  }

  /** The ordinal of the first posting with `key`. */
  first(key: IndexKey): number | undefined {
    const { chunk: place, offset } = this.#find((at) => at < key);
    const chunk = this.#chunks[place];
    if (chunk === undefined || offset >= chunk.length || this.keyIn(chunk, offset) !== key) return undefined;
    return (chunk.ordinals[offset] ?? 0) & ordinalMask;
  }

  keyAt(rank: number): IndexKey {
    const { chunk, offset } = this.#spot(rank);
    const at = this.#chunks[chunk];
    if (at === undefined || offset < 0 || offset >= at.length) throw new RangeError(`an order of ${String(this.#size)} postings has none at ${String(rank)}`);
    return this.keyIn(at, offset);
  }

  keyIn(chunk: Chunk, offset: number): IndexKey {
    if (chunk.keys !== undefined) return chunk.keys[offset] ?? '';
    return this.#column === undefined ? 0 : this.#column.least((chunk.ordinals[offset] ?? 0) & ordinalMask);
  }

  /** Visits the postings from rank `low` up to `high`, chunk by chunk. */
  spans(low: number, high: number, visit: Visit): void {
    let rest = high - low;
    if (rest <= 0) return;
    const spot = this.#spot(low);
    for (let place = spot.chunk, from = spot.offset; rest > 0; place++, from = 0) {
      const chunk = this.#chunks[place];
      if (chunk === undefined) return;
      const to = Math.min(chunk.length, from + rest);
      rest -= to - from;
      if (!visit(chunk, from, to)) return;
    }
  }

  /** The same spans, the last one first. */
  spansBackward(low: number, high: number, visit: Visit): void {
    let rest = high - low;
    if (rest <= 0) return;
    const spot = this.#spot(high - 1);
    let to = spot.offset + 1;
    for (let place = spot.chunk; rest > 0; place--) {
      const chunk = this.#chunks[place];
      if (chunk === undefined) return;
      const from = Math.max(0, to - rest);
      rest -= to - from;
      if (!visit(chunk, from, to)) return;
      to = this.#chunks[place - 1]?.length ?? 0;
    }
  }

  #beforeProbe(posting: number, key: IndexKey): IsBefore {
    const probe: Probe = { key, ...this.#rows.tie(posting & ordinalMask) };
    return (at, chunk, offset) => this.#compare(at, { chunk, offset }, probe) < 0;
  }

  #compare(key: IndexKey, { chunk, offset }: { readonly chunk: Chunk; readonly offset: number }, probe: Probe): number {
    if (key !== probe.key) return key < probe.key ? -1 : 1;
    return this.#rows.compareTie((chunk.ordinals[offset] ?? 0) & ordinalMask, probe);
  }

  /** The first posting that is not before; the end of the last chunk when all are. */
  #find(isBefore: IsBefore): Spot {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = this.#chunks[middle];
      if (chunk !== undefined && isBefore(chunk.last, chunk, chunk.length - 1)) low = middle + 1;
      else high = middle;
    }
    const chunk = this.#chunks[low];
    if (chunk === undefined) return { chunk: Math.max(0, low - 1), offset: this.#chunks[low - 1]?.length ?? 0 };
    let from = 0;
    let to = chunk.length - 1;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (isBefore(this.keyIn(chunk, middle), chunk, middle)) from = middle + 1;
      else to = middle;
    }
    return { chunk: low, offset: from };
  }

  #rank({ chunk, offset }: Spot): number {
    return (this.#ranks()[chunk] ?? 0) + offset;
  }

  #spot(rank: number): Spot {
    const starts = this.#ranks();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((starts[middle] ?? 0) <= rank) low = middle;
      else high = middle - 1;
    }
    return { chunk: low, offset: rank - (starts[low] ?? 0) };
  }

  #ranks(): Uint32Array {
    if (this.#starts !== undefined) return this.#starts;
    const starts = new Uint32Array(this.#chunks.length);
    let rank = 0;
    for (let place = 0; place < starts.length; place++) {
      starts[place] = rank;
      rank += this.#chunks[place]?.length ?? 0;
    }
    this.#starts = starts;
    return starts;
  }

  /** A chunk with room for one more posting at the spot, and the offset there. */
  #roomAt({ chunk: place, offset }: Spot): { readonly at: Chunk; readonly offset: number } {
    const chunk = this.#chunks[place];
    if (chunk === undefined) {
      const first = this.#newChunk();
      this.#chunks.push(first);
      return { at: first, offset: 0 };
    }
    if (chunk.length < chunkPostingsMax) return { at: chunk, offset };
    const right = this.#newChunk();
    // Mostly something is appended or prepended: then the full chunk stays full.
    const kept = offset === chunk.length ? chunk.length : offset === 0 ? 0 : chunk.length >>> 1;
    right.ordinals.set(chunk.ordinals.subarray(kept));
    right.keys?.push(...(chunk.keys?.splice(kept) ?? []));
    right.length = chunk.length - kept;
    chunk.length = kept;
    this.#sealed(chunk);
    this.#sealed(right);
    this.#chunks.splice(place + 1, 0, right);
    return offset <= kept && kept < chunkPostingsMax ? { at: chunk, offset } : { at: right, offset: offset - kept };
  }

  #newChunk(): Chunk {
    return { ordinals: new Uint32Array(chunkPostingsMax), keys: this.#keyed ? [] : undefined, length: 0, last: 0 };
  }

  #sealed(chunk: Chunk): Chunk {
    if (chunk.length > 0) chunk.last = this.keyIn(chunk, chunk.length - 1);
    return chunk;
  }

  /** A small chunk is joined to a neighbour with room to spare, so that removals give memory back. */
  #shrink(place: number): void {
    if (this.#chunks[place]?.length === 0) {
      this.#chunks.splice(place, 1);
      return;
    }
    const left = Math.max(0, place - 1);
    const target = this.#chunks[left];
    const source = this.#chunks[left + 1];
    if (target === undefined || source === undefined) return;
    if (target.length + source.length > chunkPostingsMax * 3 / 4) return;
    target.ordinals.set(source.ordinals.subarray(0, source.length), target.length);
    target.keys?.push(...(source.keys ?? []));
    target.length += source.length;
    target.last = source.last;
    this.#chunks.splice(left + 1, 1);
  }
}

/** An equal neighbour's key, so that one text is kept and not one a posting. */
function sharedKey(keys: readonly IndexKey[], offset: number, key: IndexKey): IndexKey {
  const left = keys[offset - 1];
  if (left === key) return left;
  const right = keys[offset];
  return right === key ? right : key;
}
