import type { CompactRange } from './compact-range.ts';
import type { Hash } from './merkle.ts';

/** The roots of this many sizes before the last one can be computed again. */
const windowLeaves = 65_536;

/** The roots of a tree that grows, at its last sizes: events about the tree are written a little later. */
export class RecentRoots {
  /** Up to the first leaf of the window. */
  readonly #base: CompactRange;
  readonly #range: CompactRange;
  #leaves: Hash[] = [];

  /** `range`: the tree so far; it is changed from now on. */
  constructor(range: CompactRange) {
    this.#base = range.copy();
    this.#range = range;
  }

  get size(): number {
    return this.#range.until;
  }

  append(leaf: Hash): void {
    this.#range.append(leaf);
    this.#leaves.push(leaf);
    if (this.#leaves.length < 2 * windowLeaves) return;
    for (const old of this.#leaves.slice(0, windowLeaves)) this.#base.append(old);
    this.#leaves = this.#leaves.slice(windowLeaves);
  }

  /** Undefined for sizes before the window and beyond the tree. */
  rootAt(size: number): Hash | undefined {
    if (size === this.size) return this.#range.root();
    if (size < this.#base.until || size > this.size) return undefined;
    const range = this.#base.copy();
    for (const leaf of this.#leaves.slice(0, size - range.until)) range.append(leaf);
    return range.root();
  }

  /** The root after the leaves that `right` covers, which begins at `size`. */
  rootWith(right: CompactRange): Hash {
    const whole = this.#range.copy();
    whole.appendRange(right);
    return whole.root();
  }
}
