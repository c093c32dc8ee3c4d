import type { Hash, Node, NodeReader } from '../../../src/audit/proof/merkle.ts';

/** The lowest level of the nodes in memory. There are few nodes of this level and above, and most proofs need them. */
const levelMin = 9;
/** The maximum number of nodes in memory, about 400 kB. */
const nodesMax = 4_096;
const levelStride = 2 ** 40;

/** Keeps the hashes of upper nodes of a tree in memory. The hash of a full node never changes. */
export class KeptNodes {
  readonly #nodes = new Map<number, Hash>();
  readonly #read: NodeReader;

  constructor(read: NodeReader) {
    this.#read = read;
  }

  get(node: Node): Hash {
    if (node.level < levelMin) return this.#read(node);
    const key = node.level * levelStride + node.index;
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const hash = this.#read(node);
    const [oldest] = this.#nodes.size < nodesMax ? [] : this.#nodes.keys();
    if (oldest !== undefined) this.#nodes.delete(oldest);
    this.#nodes.set(key, hash);
    return hash;
  }

  /** Discards all nodes in memory. Call `clear` after leaves of the tree were removed. */
  clear(): void {
    this.#nodes.clear();
  }
}
