import { areEqual, joinBytes, sha256, type Bytes } from './bytes.ts';

/**
 * The verification of proofs in the Merkle tree of the log (RFC 9162, section 2.1), with Web Crypto. Shares no code
 * with the server, so that the verification is independent. Indexes and sizes are safe integers.
 */

const hashBytes = 32;

/** Returns the hash of a leaf. Leaves and nodes have different prefixes, so neither can be presented as the other. */
export async function leafHash(entry: Bytes): Promise<Bytes> {
  return sha256(joinBytes(new Uint8Array([0]), entry));
}

async function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(joinBytes(new Uint8Array([1]), left, right));
}

export type Inclusion = {
  readonly leaf: Bytes;
  readonly index: number;
  readonly size: number;
  readonly hashes: readonly Bytes[];
  readonly root: Bytes;
};

/** Returns whether the tree of `size` leaves with this root contains the leaf at `index` (2.1.3.2). */
export async function isIncluded({ leaf, index, size, hashes, root }: Inclusion): Promise<boolean> {
  if (!isCount(index) || !isCount(size) || index >= size || !areHashes([leaf, root, ...hashes])) return false;
  const path = new Path(index, size);
  let hash = leaf;
  for (const sibling of hashes) {
    if (path.isAtRoot) return false;
    hash = path.isRight ? await nodeHash(sibling, hash) : await nodeHash(hash, sibling);
    path.climb();
  }
  return path.isAtRoot && areEqual(hash, root);
}

export type Consistency = {
  readonly oldSize: number;
  readonly oldRoot: Bytes;
  readonly size: number;
  readonly root: Bytes;
  readonly hashes: readonly Bytes[];
};

/**
 * Returns whether the tree of `size` leaves begins with the tree of `oldSize` leaves (2.1.4.2). `oldSize` is at least
 * 1. The proof of two equal trees is empty.
 */
export async function isConsistent(consistency: Consistency): Promise<boolean> {
  const { oldSize, oldRoot, size, root, hashes } = consistency;
  const isAsked = isCount(oldSize) && isCount(size) && oldSize > 0 && oldSize <= size;
  if (!isAsked || !areHashes([oldRoot, root, ...hashes])) return false;
  if (oldSize === size) return hashes.length === 0 && areEqual(oldRoot, root);
  // If the old tree is one full node, the verifier already knows its hash, so the proof omits this hash.
  const [begin, ...rest] = Number.isInteger(Math.log2(oldSize)) ? [oldRoot, ...hashes] : hashes;
  return begin !== undefined && rest.length > 0 && areJoined(begin, rest, consistency);
}

/**
 * Computes both roots from the last common node of the trees, and from the nodes beside the path from this node to the
 * roots.
 */
async function areJoined(
  begin: Bytes,
  rest: readonly Bytes[],
  { oldSize, oldRoot, size, root }: Consistency,
): Promise<boolean> {
  const path = new Path(oldSize - 1, size);
  path.climbWhileRight();
  let [oldHash, newHash] = [begin, begin];
  for (const sibling of rest) {
    if (path.isAtRoot) return false;
    if (path.isRight) {
      oldHash = await nodeHash(sibling, oldHash);
      newHash = await nodeHash(sibling, newHash);
    } else newHash = await nodeHash(newHash, sibling);
    path.climb();
  }
  return path.isAtRoot && areEqual(oldHash, oldRoot) && areEqual(newHash, root);
}

/** The path from a leaf to the root of a tree. */
class Path {
  #index: number;
  #last: number;

  constructor(index: number, size: number) {
    this.#index = index;
    this.#last = size - 1;
  }

  get isAtRoot(): boolean {
    return this.#last === 0;
  }

  /** Whether the next hash in the proof belongs to a left sibling. */
  get isRight(): boolean {
    return isOdd(this.#index) || this.#index === this.#last;
  }

  /** Moves to the parent node, and past nodes without a sibling. */
  climb(): void {
    if (this.isRight) while (!isOdd(this.#index) && this.#index !== 0) this.#halve();
    this.#halve();
  }

  climbWhileRight(): void {
    while (isOdd(this.#index)) this.#halve();
  }

  #halve(): void {
    this.#index = Math.floor(this.#index / 2);
    this.#last = Math.floor(this.#last / 2);
  }
}

/** Works for all safe integers, unlike bit operations, which have 32 bits. */
function isOdd(value: number): boolean {
  return value % 2 === 1;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function areHashes(values: readonly Bytes[]): boolean {
  return values.every(({ length }) => length === hashBytes);
}
