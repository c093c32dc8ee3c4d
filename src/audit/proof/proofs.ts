import { emptyRoot, equalHashes, hashBytes, nodeHash, rangeHash, splitOf } from './merkle.ts';
import type { Hash, NodeReader } from './merkle.ts';

/**
 * Proofs of RFC 9162. A server makes proofs from stored nodes, and a verifier needs only hashes. Indexes and sizes are
 * safe integers.
 */

/**
 * Returns the proof that a tree of `size` leaves contains the leaf `index` (2.1.3.1): at most 53 hashes, from the leaf
 * upwards.
 */
export function inclusionProof(index: number, size: number, read: NodeReader): readonly Hash[] {
  if (index < 0 || index >= size) throw new RangeError(`a tree of ${String(size)} leaves has no leaf ${String(index)}`);
  const proof: Hash[] = [];
  let [from, until] = [0, size];
  while (until - from > 1) {
    const middle = from + splitOf(until - from);
    const isLeft = index < middle;
    proof.push(isLeft ? rangeHash(middle, until, read) : rangeHash(from, middle, read));
    [from, until] = isLeft ? [from, middle] : [middle, until];
  }
  return proof.reverse();
}

/**
 * Returns the proof that the tree of `size` leaves begins with the tree of `oldSize` leaves (2.1.4.1). The proof is
 * empty if the old tree is empty or both trees are equal.
 */
export function consistencyProof(oldSize: number, size: number, read: NodeReader): readonly Hash[] {
  if (oldSize < 0 || oldSize > size)
    throw new RangeError(`a tree of ${String(size)} leaves does not begin with a tree of ${String(oldSize)} leaves`);
  if (oldSize === 0 || oldSize === size) return [];
  const proof: Hash[] = [];
  let [from, until] = [0, size];
  while (until !== oldSize) {
    const middle = from + splitOf(until - from);
    const isLeft = oldSize <= middle;
    proof.push(isLeft ? rangeHash(middle, until, read) : rangeHash(from, middle, read));
    [from, until] = isLeft ? [from, middle] : [middle, until];
  }
  // If `from` is 0, the old tree is one full node. The verifier knows its hash, which is the old root.
  if (from !== 0) proof.push(rangeHash(from, until, read));
  return proof.reverse();
}

export type Inclusion = {
  readonly leaf: Hash;
  readonly index: number;
  readonly size: number;
  readonly proof: readonly Hash[];
  readonly root: Hash;
};

/** Verifies an inclusion proof (RFC 9162, 2.1.3.2). */
export function isIncluded({ leaf, index, size, proof, root }: Inclusion): boolean {
  if (!isNumber(index) || !isNumber(size) || index >= size || !areHashes([leaf, root, ...proof])) return false;
  let [first, last] = [index, size - 1];
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(first) || first === last) {
      hash = nodeHash(sibling, hash);
      while (!isOdd(first) && first !== 0) [first, last] = [half(first), half(last)];
    } else hash = nodeHash(hash, sibling);
    [first, last] = [half(first), half(last)];
  }
  return last === 0 && equalHashes(hash, root);
}

export type Consistency = {
  readonly oldSize: number;
  readonly oldRoot: Hash;
  readonly size: number;
  readonly root: Hash;
  readonly proof: readonly Hash[];
};

/**
 * Verifies a consistency proof (RFC 9162, 2.1.4.2). In addition to the RFC, accepts an empty old tree and two equal
 * trees, each with an empty proof.
 */
export function isConsistent({ oldSize, oldRoot, size, root, proof }: Consistency): boolean {
  if (!isTree(oldSize, oldRoot) || !isTree(size, root) || oldSize > size || !areHashes(proof)) return false;
  if (oldSize === 0) return proof.length === 0;
  if (oldSize === size) return proof.length === 0 && equalHashes(oldRoot, root);
  const [begin, ...rest] = Number.isInteger(Math.log2(oldSize)) ? [oldRoot, ...proof] : proof;
  return begin !== undefined && rest.length > 0 && areJoined(begin, rest, { oldSize, oldRoot, size, root });
}

function areJoined(
  begin: Hash,
  rest: readonly Hash[],
  { oldSize, oldRoot, size, root }: Omit<Consistency, 'proof'>,
): boolean {
  let [first, last] = [oldSize - 1, size - 1];
  while (isOdd(first)) [first, last] = [half(first), half(last)];
  let [oldHash, newHash] = [begin, begin];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isOdd(first) || first === last) {
      oldHash = nodeHash(sibling, oldHash);
      newHash = nodeHash(sibling, newHash);
      while (!isOdd(first) && first !== 0) [first, last] = [half(first), half(last)];
    } else newHash = nodeHash(newHash, sibling);
    [first, last] = [half(first), half(last)];
  }
  return last === 0 && equalHashes(oldHash, oldRoot) && equalHashes(newHash, root);
}

/** The empty tree has only one valid root. */
function isTree(size: number, root: Hash): boolean {
  return isNumber(size) && areHashes([root]) && (size > 0 || equalHashes(root, emptyRoot));
}

function isNumber(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function areHashes(values: readonly Hash[]): boolean {
  return values.every((value) => value.length === hashBytes);
}

/** Bit operations are not used, because they are limited to 32 bits. */
function isOdd(value: number): boolean {
  return value % 2 === 1;
}

function half(value: number): number {
  return Math.floor(value / 2);
}
