import type { IndexKey } from '../../src/resource/type/index-entry.ts';
import type { KeyColumn } from './index-columns.ts';
import type { IndexRows, Tie } from './index-rows.ts';

/**
 * A chunk of one order of a type's objects: ascending by key, then by the tie-break (`compareTie`). The rank of a
 * posting is its place in the order.
 *
 * A posting is the entry of an object in an order. An object has one posting for each label in the order of labels, and
 * one for each key in the order of a multi-valued index. In every other order, each object has one posting.
 */
export type Chunk = {
  /** The postings in order; only the first `length` elements are used. */
  readonly ordinals: Uint32Array;
  /** The keys of the postings in an order with several postings for an object; undefined in other orders. */
  readonly keys: IndexKey[] | undefined;
  length: number;
  /** The key of the last posting. */
  last: IndexKey;
  /** The number of views that were opened before the chunk was created. Only later views may read the chunk. */
  readonly made: number;
};

/**
 * In a multi-valued index, the postings with the least and the greatest key of an object are marked. A walk counts only
 * the postings with one of the marks, so that each object is found once.
 */
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
type IsBefore = (key: IndexKey, chunk: Chunk, offset: number) => boolean;
export type Spot = {
  readonly chunk: number;
  readonly offset: number;
};
/** Postings of one chunk, from one offset (inclusive) to another (exclusive). */
export type Span = {
  readonly chunk: Chunk;
  readonly from: number;
  readonly to: number;
};

/** Reads an order. While a view of the index is open, writes do not change the data that this `OrderView` reads. */
export class OrderView {
  readonly #rows: IndexRows;
  readonly #column: KeyColumn | undefined;
  readonly #state: OrderState;

  /** `column` contains the keys. Undefined if the postings contain the keys, or all keys are equal. */
  constructor(rows: IndexRows, column: KeyColumn | undefined, state: OrderState) {
    this.#rows = rows;
    this.#column = column;
    this.#state = state;
  }

  get size(): number {
    return this.#state.size;
  }

  /** The first rank with a key that is equal to or greater than `key`. */
  lower(key: IndexKey): number {
    return this.#rank(this.#find((at) => at < key));
  }

  /** The first rank with a key that is greater than `key`. */
  upper(key: IndexKey): number {
    return this.#rank(this.#find((at) => at <= key));
  }

  /** The first rank with a key that is greater than `prefix` and does not start with `prefix`. */
  beyondPrefix(prefix: string): number {
    return this.#rank(this.#find((key) => key < prefix || String(key).startsWith(prefix)));
  }

  /** The first rank after the place of `key` and `tie`. An object need not have this place. */
  after(key: IndexKey, tie: Tie): number {
    return this.#rank(
      this.#find((at, chunk, offset) => {
        const compared = compareKeys(at, key);
        if (compared !== 0) return compared < 0;
        return this.#rows.compareTie((chunk.ordinals[offset] ?? 0) & ordinalMask, tie) <= 0;
      }),
    );
  }

  /** The ordinal of the first posting with `key`; undefined if no posting has `key`. */
  first(key: IndexKey): number | undefined {
    const { chunk: place, offset } = this.#find((at) => at < key);
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

  /** The spans of `spans`, in reverse order. */
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

  /**
   * The place of the first posting for which `isBefore` is false; the end of the last chunk if there is no such
   * posting.
   */
  #find(isBefore: IsBefore): Spot {
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

  /**
   * The place of a posting, or the place at which to insert the posting. The row of the posting must already have the
   * key. Compares rows by ordinal, because numbers that a function returns may be allocated on the heap.
   */
  placeOf(posting: number, key: IndexKey): Spot {
    const { chunks } = this.#state;
    const ordinal = posting & ordinalMask;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = chunks[middle];
      if (chunk !== undefined && this.#isBefore(chunk, chunk.length - 1, ordinal, key)) low = middle + 1;
      else high = middle;
    }
    const chunk = chunks[low];
    if (chunk === undefined) return { chunk: Math.max(0, low - 1), offset: chunks[low - 1]?.length ?? 0 };
    let from = 0;
    let to = chunk.length - 1;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#isBefore(chunk, middle, ordinal, key)) from = middle + 1;
      else to = middle;
    }
    return { chunk: low, offset: from };
  }

  /** Whether the posting at `offset` of `chunk` is before the row at `ordinal`, which has the key. */
  #isBefore(chunk: Chunk, offset: number, ordinal: number, key: IndexKey): boolean {
    const at = (chunk.ordinals[offset] ?? 0) & ordinalMask;
    const compared =
      chunk.keys === undefined ? (this.#column?.compare(at, ordinal) ?? 0) : compareKeys(chunk.keys[offset] ?? '', key);
    return (compared === 0 ? this.#rows.compare(at, ordinal) : compared) < 0;
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

function compareKeys(one: IndexKey, other: IndexKey): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
