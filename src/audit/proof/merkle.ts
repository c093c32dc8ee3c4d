import { hash } from 'node:crypto';

/**
 * The Merkle tree of RFC 9162 (section 2.1) over SHA-256. Leaves and nodes have different prefixes, so no leaf passes
 * for a node. A _node_ at level l and index i is the root of the 2^l leaves from i · 2^l on.
 */

/** A SHA-256 hash: 32 bytes. */
export type Hash = Uint8Array;

export const hashBytes = 32;

/** The root of a tree without leaves. */
export const emptyRoot: Hash = sha256(new Uint8Array());

export type Node = { readonly level: number; readonly index: number };

/** Returns the hash of a node that is full, so it never changes again. */
export type NodeReader = (node: Node) => Hash;

/** The detour over a text takes half the time of the output encoding `buffer` (Node 20 to 24). */
export function sha256(bytes: Uint8Array | string): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}

export function leafHash(entry: Uint8Array): Hash {
  const prefixed = Buffer.allocUnsafe(1 + entry.length);
  prefixed[0] = 0;
  prefixed.set(entry, 1);
  return sha256(prefixed);
}

/** One shared buffer, since a fold hashes a node for each leaf. */
const pair = Buffer.alloc(1 + 2 * hashBytes, 1);

export function nodeHash(left: Hash, right: Hash): Hash {
  pair.set(left, 1);
  pair.set(right, 1 + hashBytes);
  return sha256(pair);
}

export function equalHashes(left: Hash, right: Hash): boolean {
  return Buffer.compare(left, right) === 0;
}

/** The fewest full nodes that cover the leaves from `from` up to, and without, `until`, from left to right. */
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

/** The hash of RFC 9162 for the leaves of a range that begins at a multiple of the next power of two. */
export function rangeHash(from: number, until: number, read: NodeReader): Hash {
  return joined(nodesOf(from, until).map(read));
}

/** The last two are joined first, as the tree's right edge is the lower one. */
export function joined(hashes: readonly Hash[]): Hash {
  return hashes.length === 0 ? emptyRoot : hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** The largest power of two that is smaller than `size`, which is at least 2. */
export function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/**
 * Hashes are stored as in tlog-tiles: only those of levels 0, 8, 16 … `read` returns `count` of them beside one another
 * from `first` on, which are at most 128 and lie within one tile; `tileLevel` 0 are leaves, 1 the nodes of level 8.
 */
export function readerOfTiles(read: (tileLevel: number, first: number, count: number) => Uint8Array): NodeReader {
  return ({ level, index }) => {
    const [tileLevel, height] = [Math.floor(level / tileHeight), level % tileHeight];
    const count = 2 ** height;
    const bytes = read(tileLevel, index * count, count);
    if (bytes.length !== count * hashBytes)
      throw new RangeError(`the tile has ${String(bytes.length / hashBytes)} of ${String(count)} hashes`);
    return foldedPairs(bytes);
  };
}

/** The root over hashes beside one another, a power of two of them. A hash of each pair replaces it in a copy. */
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

/** Levels in a tile: it has 256 hashes. */
export const tileHeight = 8;
