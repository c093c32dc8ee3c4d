import type { Hash, NodeReader } from '../audit/proof/merkle.ts';
import type { LogPosition } from '../log/log.ts';

/**
 * The Merkle tree over the events that this node has folded (audit/proof). The tree only grows. The index of a leaf is
 * the number of earlier leaves. An event is a leaf if `isLeafStream` is true for its stream.
 */
export type TreeReader = {
  /** The origin line of the tree's checkpoints: `<domain>/<tree id>`. */
  origin(): string;
  /** The number of folded leaves. */
  size(): number;
  /** The root of the tree with the first `size` leaves. `size` is at most `size()`. */
  root(size: number): Hash;
  /** Returns the hash of a full node within `size()`. */
  readonly nodeHash: NodeReader;
  /** The position, in the current epoch, of the leaf with an index below `size()`. */
  positionOf(index: number): LogPosition;
  /** The number of leaves up to and including `position`; at most `size()`. */
  leavesUntil(position: LogPosition): number;
  /**
   * Signs a checkpoint for `size()` at the time of the call or later, and returns it as a note. The size and root are
   * on disk before the promise resolves, so this node never signs another root for this size. Rejects with a
   * `SigningRefusedError` if this node cannot sign now.
   */
  signedCheckpoint(): Promise<string>;
  /**
   * Signs a checkpoint for a size of at most the last size that this node has signed.
   *
   * @throws RangeError for a larger size.
   */
  earlierCheckpoint(size: number): string;
};

/** This node cannot sign a checkpoint now. For some reasons, it can never sign again for this log. */
export class SigningRefusedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SigningRefusedError';
  }
}
