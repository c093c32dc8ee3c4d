import { hashBytes, joined, nodeHash, nodesOf, type Hash, type Node } from './merkle.ts';

/**
 * The leaves from `from` (inclusive) to `until` (exclusive), as the smallest set of full nodes. There are at most two
 * nodes for each of the 53 levels of a tree with a safe integer as its size. A range from 0 gives the root of the tree
 * with `until` leaves.
 */
export class CompactRange {
  readonly from: number;
  readonly #nodes: (Node & { readonly hash: Hash })[] = [];
  #until: number;

  /** Creates a range without leaves that begins at `from`. */
  constructor(from = 0) {
    this.from = from;
    this.#until = from;
  }

  /**
   * Creates a range from given hashes.
   *
   * @throws RangeError if the number of hashes is not the number of nodes of the range, or a hash has the wrong size.
   */
  static of(from: number, until: number, hashes: readonly Hash[]): CompactRange {
    const nodes = nodesOf(from, until);
    if (hashes.length !== nodes.length)
      throw new RangeError(
        `the range from ${String(from)} to ${String(until)} must have ${String(nodes.length)} hashes, ` +
          `got ${String(hashes.length)}`,
      );
    const range = new CompactRange(from);
    for (const [at, hash] of hashes.entries()) {
      if (hash.length !== hashBytes) throw new RangeError(`a hash must have ${String(hashBytes)} bytes`);
      const node = nodes[at];
      if (node !== undefined) range.#nodes.push({ ...node, hash });
    }
    range.#until = until;
    return range;
  }

  get until(): number {
    return this.#until;
  }

  /** The hashes of the nodes, from left to right. */
  get hashes(): readonly Hash[] {
    return this.#nodes.map(({ hash }) => hash);
  }

  /** Returns an independent copy. */
  copy(): CompactRange {
    return CompactRange.of(this.from, this.#until, this.hashes);
  }

  /** Adds the leaf with the index `until`. Calls `visit` for the leaf, and then for each node that becomes full. */
  append(leaf: Hash, visit?: (node: Node, hash: Hash) => void): void {
    this.#add({ level: 0, index: this.#until, hash: leaf }, visit);
  }

  /**
   * Adds the leaves of `range`.
   *
   * @throws RangeError unless `range` begins at the end of this range.
   */
  appendRange(range: CompactRange): void {
    if (range.from !== this.#until)
      throw new RangeError(`the range begins at ${String(range.from)}, not at ${String(this.#until)}`);
    for (const node of [...range.#nodes]) this.#add(node);
  }

  /**
   * Returns the root of the tree with `until` leaves.
   *
   * @throws RangeError unless the range begins at 0.
   */
  root(): Hash {
    if (this.from !== 0)
      throw new RangeError(`the range begins at ${String(this.from)}, but only a range that begins at 0 has a root`);
    return joined(this.hashes);
  }

  #add(added: Node & { readonly hash: Hash }, visit?: (node: Node, hash: Hash) => void): void {
    let node = added;
    visit?.(node, node.hash);
    for (let left = this.#nodes.at(-1); left !== undefined; left = this.#nodes.at(-1)) {
      if (left.level !== node.level || left.index % 2 !== 0) break;
      this.#nodes.pop();
      node = { level: node.level + 1, index: left.index / 2, hash: nodeHash(left.hash, node.hash) };
      visit?.(node, node.hash);
    }
    this.#nodes.push(node);
    this.#until = (node.index + 1) * 2 ** node.level;
  }
}
