import type { IndexKey } from '../../src/resource/type/index-entry.ts';
import type { KeyColumn } from './index-columns.ts';
import type { IndexRows, Tie } from './index-rows.ts';

/**
 * A chunk of one order of a type's objects. The order is ascending by key, then by the tie-break. The rank of a posting
 * is its place in the order, so the size of a range of keys is the difference of two ranks.
 *
 * A posting is the entry of an object in an order. An object has one posting in the default order and in the order of a
 * single-valued index. In the order of labels, it has one posting for each label. In the order of a multi-valued index,
 * it has one posting for each key. There, the postings of its least and its greatest key are marked, so that a walk in
 * either direction finds each object once.
 */
export type Chunk = {
  /** The postings in order; only the first `length` elements are used. */
  readonly ordinals: Uint32Array;
  /**
   * The keys of the postings, if an object may have several postings. Otherwise undefined, because the keys are in a
   * column or are all equal.
   */
  readonly keys: IndexKey[] | undefined;
  length: number;
  /** The key of the last posting. A search over chunks reads no other key. */
  last: IndexKey;
  /**
   * The number of views that were opened before the chunk was created. Only later views may read this chunk, so a write
   * copies the chunk only if a later view is open.
   */
  readonly made: number;
};

/** A posting is an ordinal, combined with none, one or both of these marks. */
export const leastMark = 0x40000000;
export const greatestMark = 0x20000000;
export const ordinalMask = 0x1fffffff;

/** The contents of an order at one moment. */
export type OrderState = {
  /** The chunks. No chunk is empty. */
  readonly chunks: Chunk[];
  size: number;
  /** The rank of each chunk's first posting; undefined after a change. */
  starts: Uint32Array | undefined;
};

/** Whether the posting with `key`, at `offset` of `chunk`, is before the searched place. */
export type IsBefore = (key: IndexKey, chunk: Chunk, offset: number) => boolean;
export type Spot = {
  readonly chunk: number;
  readonly offset: number;
};
export type Probe = Tie & { readonly key: IndexKey };
/** Postings of one chunk, from one offset (inclusive) to another (exclusive). */
export type Span = {
  readonly chunk: Chunk;
  readonly from: number;
  readonly to: number;
};

type PlaceInChunk = {
  readonly chunk: Chunk;
  readonly offset: number;
};

/** Reads an order. While a view of the index is open, writes do not change the data that this object reads. */
export class OrderView {
  readonly #rows: IndexRows;
  readonly #column: KeyColumn | undefined;
  readonly #state: OrderState;

  /**
   * `column`: the keys, if they are not stored with the postings. Undefined if the keys are stored with the postings,
   * or are all equal.
   */
  constructor(rows: IndexRows, column: KeyColumn | undefined, state: OrderState) {
    this.#rows = rows;
    this.#column = column;
    this.#state = state;
  }

  get size(): number {
    return this.#state.size;
  }

  /** The first rank with a key equal to `key` or after it. */
  lower(key: IndexKey): number {
    return this.#rank(this.find((at) => at < key));
  }

  /** The first rank with a key after `key`. */
  upper(key: IndexKey): number {
    return this.#rank(this.find((at) => at <= key));
  }

  /** The first rank with a key that is after `prefix` and does not start with it. */
  beyondPrefix(prefix: string): number {
    return this.#rank(this.find((key) => key < prefix || String(key).startsWith(prefix)));
  }

  /** The first rank after the place of `key` and `tie`. An object need not have this place. */
  after(key: IndexKey, tie: Tie): number {
    const probe = { key, ...tie };
    return this.#rank(this.find((at, chunk, offset) => this.compare(at, { chunk, offset }, probe) <= 0));
  }

  /** The ordinal of the first posting with `key`; undefined if there is none. */
  first(key: IndexKey): number | undefined {
    const { chunk: place, offset } = this.find((at) => at < key);
    const chunk = this.#state.chunks[place];
    if (chunk === undefined || offset >= chunk.length || this.keyIn(chunk, offset) !== key) return undefined;
    return (chunk.ordinals[offset] ?? 0) & ordinalMask;
  }

  keyAt(rank: number): IndexKey {
    const { chunk, offset } = this.#spot(rank);
    const at = this.#state.chunks[chunk];
    if (at === undefined || offset < 0 || offset >= at.length)
      throw new RangeError(`an order of ${String(this.size)} postings has no posting at ${String(rank)}`);
    return this.keyIn(at, offset);
  }

  keyIn(chunk: Chunk, offset: number): IndexKey {
    if (chunk.keys !== undefined) return chunk.keys[offset] ?? '';
    return this.#column === undefined ? 0 : this.#column.least((chunk.ordinals[offset] ?? 0) & ordinalMask);
  }

  /** The postings from rank `low` (inclusive) to `high` (exclusive), chunk by chunk. */
  *spans(low: number, high: number): Generator<Span, undefined> {
    let rest = high - low;
    if (rest <= 0) return;
    const spot = this.#spot(low);
    for (let index = spot.chunk, from = spot.offset; rest > 0; index++, from = 0) {
      const chunk = this.#state.chunks[index];
      if (chunk === undefined) return;
      const to = Math.min(chunk.length, from + rest);
      rest -= to - from;
      yield { chunk, from, to };
    }
  }

  /** The same spans as those of `spans`, in reverse order. */
  *spansBackward(low: number, high: number): Generator<Span, undefined> {
    let rest = high - low;
    if (rest <= 0) return;
    const spot = this.#spot(high - 1);
    let to = spot.offset + 1;
    for (let index = spot.chunk; rest > 0; index--) {
      const chunk = this.#state.chunks[index];
      if (chunk === undefined) return;
      const from = Math.max(0, to - rest);
      rest -= to - from;
      yield { chunk, from, to };
      to = this.#state.chunks[index - 1]?.length ?? 0;
    }
  }

  compare(key: IndexKey, { chunk, offset }: PlaceInChunk, probe: Probe): number {
    if (key !== probe.key) return key < probe.key ? -1 : 1;
    return this.#rows.compareTie((chunk.ordinals[offset] ?? 0) & ordinalMask, probe);
  }

  /** The place of the first posting for which `isBefore` is false. If there is none, the end of the last chunk. */
  find(isBefore: IsBefore): Spot {
    const { chunks } = this.#state;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = chunks[middle];
      if (chunk !== undefined && isBefore(chunk.last, chunk, chunk.length - 1)) low = middle + 1;
      else high = middle;
    }
    const chunk = chunks[low];
    if (chunk === undefined) return { chunk: Math.max(0, low - 1), offset: chunks[low - 1]?.length ?? 0 };
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
    const { starts: known, chunks } = this.#state;
    if (known !== undefined) return known;
    const starts = new Uint32Array(chunks.length);
    let rank = 0;
    for (let index = 0; index < starts.length; index++) {
      starts[index] = rank;
      rank += chunks[index]?.length ?? 0;
    }
    this.#state.starts = starts;
    return starts;
  }
}
