import { hash } from 'node:crypto';

/**
 * The Merkle tree of RFC 9162 (section 2.1) over SHA-256. Leaves and nodes are hashed with different prefixes, so a
 * leaf cannot be presented as a node. A _node_ at level l and index i is the root of the 2^l leaves from i · 2^l on.
 */

/** A SHA-256 hash: 32 bytes. */
export type Hash = Uint8Array;

export const hashBytes = 32;

/** The root of a tree without leaves. */
export const emptyRoot: Hash = sha256(new Uint8Array());

export type Node = { readonly level: number; readonly index: number };

/** Returns the hash of a full node, which never changes. */
export type NodeReader = (node: Node) => Hash;

/** In Node 20 to 24, a digest as a binary string takes half the time of a digest as a buffer. */
export function sha256(bytes: Uint8Array | string): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}

export function leafHash(entry: Uint8Array): Hash {
  const prefixed = Buffer.allocUnsafe(1 + entry.length);
  prefixed[0] = 0;
  prefixed.set(entry, 1);
  return sha256(prefixed);
}

/** The prefix of a node (1), and space for the hashes of its two children. All calls share this buffer. */
const pair = Buffer.alloc(1 + 2 * hashBytes, 1);

export function nodeHash(left: Hash, right: Hash): Hash {
  pair.set(left, 1);
  pair.set(right, 1 + hashBytes);
  return sha256(pair);
}

export function equalHashes(left: Hash, right: Hash): boolean {
  return Buffer.compare(left, right) === 0;
}

/**
 * Returns the smallest set of full nodes over the leaves from `from` (inclusive) to `until` (exclusive), from left to
 * right.
 */
export function nodesOf(from: number, until: number): readonly Node[] {
  const nodes: Node[] = [];
  for (let at = from; at < until;) {
    let level = 0;
    let width = 1;
    while (at % (2 * width) === 0 && at + 2 * width <= until) {
      level += 1;
      width *= 2;
    }
    nodes.push({ level, index: at / width });
    at += width;
  }
  return nodes;
}

/**
 * Returns the hash of the leaves of a range (RFC 9162). `from` must be a multiple of a power of two that is at least
 * the length of the range.
 */
export function rangeHash(from: number, until: number, read: NodeReader): Hash {
  return joined(nodesOf(from, until).map(read));
}

/**
 * Returns the root over the hashes of a range's nodes; `emptyRoot` for no hashes. Joins the rightmost hashes first,
 * because the nodes become smaller to the right.
 */
export function joined(hashes: readonly Hash[]): Hash {
  return hashes.length === 0 ? emptyRoot : hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** Returns the largest power of two that is smaller than `size`, which is at least 2. */
export function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/**
 * Returns a reader of nodes for a tree of which only the levels 0, `step`, 2 · `step` … are stored. `read` returns
 * `count` adjacent hashes of a stored level, from the index `first` on. All of them are below one node of the next
 * stored level. `count` is a power of two and less than 2^`step`.
 */
export function readerOfLevels(
  step: number,
  read: (level: number, first: number, count: number) => Uint8Array,
): NodeReader {
  return ({ level, index }) => {
    const stored = level - (level % step);
    const count = 2 ** (level - stored);
    const bytes = read(stored, index * count, count);
    if (bytes.length !== count * hashBytes)
      throw new RangeError(
        `level ${String(stored)} has ${String(bytes.length / hashBytes)} of ${String(count)} hashes ` +
          `from index ${String(index * count)} on`,
      );
    return foldedPairs(bytes);
  };
}

/** Returns the root over adjacent hashes; their number must be a power of two. */
function foldedPairs(hashes: Uint8Array): Hash {
  const row = Buffer.from(hashes);
  for (let { length } = row; length > hashBytes; length /= 2) {
    for (let at = 0; at < length; at += 2 * hashBytes) {
      row.copy(pair, 1, at, at + 2 * hashBytes);
      row.write(hash('sha256', pair, 'binary'), at / 2, 'latin1');
    }
  }
  return row.subarray(0, hashBytes);
}

/** The height of a tile with 256 hashes (C2SP tlog-tiles). */
export const tileHeight = 8;
