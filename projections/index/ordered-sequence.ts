import type { Steps } from '../../src/base/steps.ts';
import type { IndexKey } from '../../src/resource/type/index-entry.ts';
import type { KeyColumn } from './index-columns.ts';
import type { IndexRows } from './index-rows.ts';
import { ordinalMask, OrderView, type Chunk, type OrderState, type Spot } from './order-view.ts';

export const chunkPostingsMax = 512;
/** The maximum number of postings in a chunk after a load. With free space, the first writes split few chunks. */
const loadedPostings = 448;

/** The source of the keys: none (all keys are equal), a column with one key for each row, or the postings. */
export type KeySource =
  { readonly kind: 'none' } | { readonly kind: 'column'; readonly column: KeyColumn } | { readonly kind: 'posting' };

/** A writable order. Chunks that an open view reads are copied on write. */
export class OrderedSequence {
  readonly #rows: IndexRows;
  readonly #column: KeyColumn | undefined;
  readonly #keyed: boolean;
  #state: OrderState = { chunks: [], size: 0, starts: undefined };
  #view: OrderView;
  /** The number of views that were opened before `#state` was created. */
  #made: number;

  constructor(rows: IndexRows, source: KeySource) {
    this.#rows = rows;
    this.#column = source.kind === 'column' ? source.column : undefined;
    this.#keyed = source.kind === 'posting';
    this.#made = rows.views.opened;
    this.#view = new OrderView(rows, this.#column, this.#state);
  }

  /** The current contents. A reader that needs several turns must open a view of the index (`IndexViews`). */
  get view(): OrderView {
    return this.#view;
  }

  /** Replaces the contents with sorted postings. The order must not be read before the last step. */
  *load(postings: Uint32Array, keyAt: (rank: number) => IndexKey): Steps<undefined> {
    const chunks: Chunk[] = [];
    for (let start = 0; start < postings.length; start += loadedPostings) {
      if (start > 0) yield;
      const length = Math.min(loadedPostings, postings.length - start);
      const chunk = this.#newChunk();
      chunk.ordinals.set(postings.subarray(start, start + length));
      for (let index = start; index < start + length; index++) chunk.keys?.push(keyAt(index));
      chunk.length = length;
      chunks.push(this.#sealed(chunk));
    }
    this.#become({ chunks, size: postings.length, starts: undefined });
  }

  /** Inserts a posting. Call `insert` after the keys of the posting's row were set. */
  insert(posting: number, key: IndexKey): void {
    const state = this.#written();
    const { at, offset } = this.#roomAt(this.#view.placeOf(posting, key));
    at.ordinals.copyWithin(offset + 1, offset, at.length);
    at.ordinals[offset] = posting;
    at.keys?.splice(offset, 0, sharedKey(at.keys, offset, key));
    at.length += 1;
    if (offset === at.length - 1) this.#sealed(at);
    state.size += 1;
  }

  /** Removes a posting. Call `remove` before the keys of the posting's row are changed. */
  remove(posting: number, key: IndexKey): void {
    const { chunk: place, offset } = this.#view.placeOf(posting, key);
    if (this.#state.chunks[place]?.ordinals[offset] !== posting)
      throw new Error(
        `invariant violated: an order lacks the key ${JSON.stringify(key)} of its row ` +
          this.#rows.name(posting & ordinalMask),
      );
    const state = this.#written();
    const chunk = this.#own(place);
    chunk.ordinals.copyWithin(offset, offset + 1, chunk.length);
    chunk.keys?.splice(offset, 1);
    chunk.length -= 1;
    state.size -= 1;
    if (offset === chunk.length) this.#sealed(chunk);
    if (chunk.length < chunkPostingsMax / 4) this.#shrink(place);
  }

  /** Returns the state for writing: a copy if an open view reads the state. */
  #written(): OrderState {
    if (this.#rows.views.see(this.#made)) this.#become({ ...this.#state, chunks: [...this.#state.chunks] });
    this.#state.starts = undefined;
    return this.#state;
  }

  #become(state: OrderState): void {
    this.#state = state;
    this.#view = new OrderView(this.#rows, this.#column, state);
    this.#made = this.#rows.views.opened;
  }

  /** Returns the chunk at `place` for writing: a copy if an open view reads the chunk. */
  #own(place: number): Chunk {
    const chunk = this.#state.chunks[place];
    if (chunk === undefined) throw new RangeError(`an order has no chunk at ${String(place)}`);
    if (!this.#rows.views.see(chunk.made)) return chunk;
    const { ordinals, keys, length, last } = chunk;
    const copy: Chunk = {
      ordinals: ordinals.slice(),
      keys: keys?.slice(),
      length,
      last,
      made: this.#rows.views.opened,
    };
    this.#state.chunks[place] = copy;
    return copy;
  }

  /**
   * Makes space for a posting at the spot, by splitting a full chunk if necessary. Returns the chunk and the posting's
   * offset in the chunk.
   */
  #roomAt({ chunk: place, offset }: Spot): { readonly at: Chunk; readonly offset: number } {
    const { chunks } = this.#state;
    if (place >= chunks.length) {
      const first = this.#newChunk();
      chunks.push(first);
      return { at: first, offset: 0 };
    }
    const chunk = this.#own(place);
    if (chunk.length < chunkPostingsMax) return { at: chunk, offset };
    const right = this.#newChunk();
    // Most insertions are at an end of the chunk. The full chunk then stays whole, and the posting gets a new chunk.
    const kept = offset === chunk.length ? chunk.length : offset === 0 ? 0 : chunk.length >>> 1;
    right.ordinals.set(chunk.ordinals.subarray(kept));
    right.keys?.push(...(chunk.keys?.splice(kept) ?? []));
    right.length = chunk.length - kept;
    chunk.length = kept;
    this.#sealed(chunk);
    this.#sealed(right);
    chunks.splice(place + 1, 0, right);
    return offset <= kept && kept < chunkPostingsMax ? { at: chunk, offset } : { at: right, offset: offset - kept };
  }

  #newChunk(): Chunk {
    return {
      ordinals: new Uint32Array(chunkPostingsMax),
      keys: this.#keyed ? [] : undefined,
      length: 0,
      last: 0,
      made: this.#rows.views.opened,
    };
  }

  #sealed(chunk: Chunk): Chunk {
    if (chunk.length > 0) chunk.last = this.#view.keyIn(chunk, chunk.length - 1);
    return chunk;
  }

  /** Removes an empty chunk, or joins a small chunk with a neighbour that has space, so that removals free memory. */
  #shrink(place: number): void {
    const { chunks } = this.#state;
    if (chunks[place]?.length === 0) {
      chunks.splice(place, 1);
      return;
    }
    const left = Math.max(0, place - 1);
    const source = chunks[left + 1];
    if (source === undefined || (chunks[left]?.length ?? 0) + source.length > (chunkPostingsMax * 3) / 4) return;
    const target = this.#own(left);
    target.ordinals.set(source.ordinals.subarray(0, source.length), target.length);
    target.keys?.push(...(source.keys ?? []));
    target.length += source.length;
    target.last = source.last;
    chunks.splice(left + 1, 1);
  }
}

/**
 * Returns an equal key of a neighbour, so that equal postings share one string. Returns `key` if no neighbour is equal.
 */
function sharedKey(keys: readonly IndexKey[], offset: number, key: IndexKey): IndexKey {
  const left = keys[offset - 1];
  if (left === key) return left;
  const right = keys[offset];
  return right === key ? right : key;
}
