import type { CompactRange } from './compact-range.ts';
import type { Hash } from './merkle.ts';

/** Roots can be computed at least for this number of recent tree sizes. Fewer than twice as many leaves are stored. */
const windowLeaves = 65_536;

/**
 * Computes the roots of a growing tree at its recent sizes. A `TreeHead` may state a smaller size than the number of
 * leaves before it, because other events may be appended between its signature and its append.
 */
export class RecentRoots {
  /** The leaves before the stored leaves. Roots can be computed from this size on. */
  readonly #base: CompactRange;
  readonly #range: CompactRange;
  #leaves: Hash[] = [];

  /**
   * `range` contains the first leaves of the tree. The new object changes `range`, so the caller must not use `range`
   * afterwards.
   */
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

  /** Returns the root at a recent or the present size; undefined for an older size, or for a size beyond the tree. */
  rootAt(size: number): Hash | undefined {
    if (size === this.size) return this.#range.root();
    if (size < this.#base.until || size > this.size) return undefined;
    const range = this.#base.copy();
    for (const leaf of this.#leaves.slice(0, size - range.until)) range.append(leaf);
    return range.root();
  }

  /** Returns the root of this tree with the leaves of `right`, which begin at `size`. */
  rootWith(right: CompactRange): Hash {
    const whole = this.#range.copy();
    whole.appendRange(right);
    return whole.root();
  }
}
