import { hashBytes, joined, nodeHash, nodesOf, type Hash, type Node } from './merkle.ts';

/**
 * The leaves from `from` up to, and without, `until`, as the fewest full nodes that cover them: at most 2 · 53 hashes.
 * Ranges side by side join to one; one that begins at 0 has the root of the tree of that size.
 */
export class CompactRange {
  readonly from: number;
  readonly #nodes: (Node & { readonly hash: Hash })[] = [];
  #until: number;

  /** Without leaves. */
  constructor(from = 0) {
    this.from = from;
    this.#until = from;
  }

  /**
   * Of hashes from elsewhere.
   *
   * @throws RangeError if they are not as many as the range has nodes, or not all hashes.
   */
  static of(from: number, until: number, hashes: readonly Hash[]): CompactRange {
    const nodes = nodesOf(from, until);
    if (hashes.length !== nodes.length)
      throw new RangeError(
        `the range from ${String(from)} to ${String(until)} has ${String(nodes.length)} hashes, ` +
          `got ${String(hashes.length)}`,
      );
    const range = new CompactRange(from);
    for (const [at, hash] of hashes.entries()) {
      if (hash.length !== hashBytes) throw new RangeError(`a hash has ${String(hashBytes)} bytes`);
      const node = nodes[at];
      if (node !== undefined) range.#nodes.push({ ...node, hash });
    }
    range.#until = until;
    return range;
  }

  get until(): number {
    return this.#until;
  }

  /** From left to right. */
  get hashes(): readonly Hash[] {
    return this.#nodes.map(({ hash }) => hash);
  }

  /** A copy that changes on its own. */
  copy(): CompactRange {
    return CompactRange.of(this.from, this.#until, this.hashes);
  }

  /** Adds the leaf `until`. `visit` is called for each node that is now full, the leaf first. */
  append(leaf: Hash, visit?: (node: Node, hash: Hash) => void): void {
    this.#add({ level: 0, index: this.#until, hash: leaf }, visit);
  }

  /** Adds the leaves of a range that begins where this one ends. */
  appendRange(range: CompactRange): void {
    if (range.from !== this.#until)
      throw new RangeError(`the range begins at ${String(range.from)}, not at ${String(this.#until)}`);
    for (const node of [...range.#nodes]) this.#add(node);
  }

  /** Of the tree with `until` leaves. */
  root(): Hash {
    if (this.from !== 0) throw new RangeError(`a range from ${String(this.from)} on has no root`);
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
