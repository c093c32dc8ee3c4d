import type { Hash, NodeReader } from '../audit/proof/merkle.ts';
import type { LogPosition } from '../log/log.ts';

/**
 * The Merkle tree over the folded events (docs/audit-proof.md). The tree only grows. An event is a leaf if
 * `isLeafStream` is true for its stream.
 */
export type TreeReader = {
  /** Returns the origin of the tree's checkpoints: `<domain>/<tree id>`. */
  origin(): string;
  /** Returns the number of folded leaves. */
  size(): number;
  /** Returns the root of the tree with the first `size` leaves. `size` is at most `size()`. */
  root(size: number): Hash;
  /** Returns the hash of a full node within `size()`. */
  readonly nodeHash: NodeReader;
  /** Returns the position, in the current epoch, of the leaf with an index below `size()`. */
  positionOf(index: number): LogPosition;
  /** Returns the number of leaves up to and including `position`. */
  leavesUntil(position: LogPosition): number;
  /**
   * Returns a signed checkpoint of the tree at the time of the call or later, as a note. The size and root are then on
   * disk, so this node never signs another root for this size.
   *
   * @throws SigningRefusedError if this node cannot sign now.
   */
  signedCheckpoint(): Promise<string>;
  /**
   * Signs a checkpoint of a size that is at most the last size that this node has signed.
   *
   * @throws RangeError for a larger size.
   */
  earlierCheckpoint(size: number): string;
};

/** This node cannot sign a checkpoint now. For some reasons, it can never again sign a checkpoint of this log. */
export class SigningRefusedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SigningRefusedError';
  }
}
