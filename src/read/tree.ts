import type { Hash, NodeReader } from '../audit/proof/merkle.ts';
import type { LogPosition } from '../log/log.ts';

/**
 * The Merkle tree over the log's events (audit/proof), as far as this node has folded it. It only grows. A leaf's index
 * counts the events before it that are leaves (`isLeafStream`).
 */
export type TreeReader = {
  /** Of its checkpoints: `<domain>/<tree id>`. */
  origin(): string;
  /** The number of folded leaves. */
  size(): number;
  /** Of the tree with the first `size` leaves, at most `size()`. */
  root(size: number): Hash;
  /** Of a full node within `size()`. */
  readonly nodeHash: NodeReader;
  /** Of a leaf below `size()`, in the current epoch. */
  positionOf(index: number): LogPosition;
  /** The number of leaves at positions up to and including this one; at most `size()`. */
  leavesUntil(position: LogPosition): number;
  /**
   * A checkpoint of `size()` at the time of the call or later, signed with this node's key, as a signed note. Its size
   * and root are on disk before it resolves, so that this node never signs anything else for that size. Rejects with
   * `SigningRefusedError`.
   */
  signedCheckpoint(): Promise<string>;
  /** The same for at most the size of a checkpoint that this node has signed; RangeError for a larger one. */
  earlierCheckpoint(size: number): string;
};

/** This node signs no checkpoint now, perhaps never again for this log. */
export class SigningRefusedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SigningRefusedError';
  }
}
