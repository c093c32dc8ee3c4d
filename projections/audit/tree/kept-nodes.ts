import type { Hash, Node, NodeReader } from '../../../src/audit/proof/merkle.ts';

/** Nodes of this level and above are kept: there are few, most proofs need them, and each takes hundreds of hashes. */
const levelMin = 9;
/** All of them in a tree of two million leaves, some 400 kB. */
const nodesMax = 4_096;
const levelStride = 2 ** 40;

/** Remembers upper nodes of a tree: full ones never change. */
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

  /** The tree has other leaves now. */
  clear(): void {
    this.#nodes.clear();
  }
}
