import type { TreeSize } from '../command/event.ts';
import type { LogPosition } from '../log/log.ts';
import type { TreeReader } from './tree.ts';

/** The Merkle tree over the folded events, with its tiles (docs/spec/tree.md). */
export type FoldedTree = Pick<TreeReader, 'size' | 'root' | 'nodeHash' | 'positionOf' | 'leavesUntil'> & {
  /**
   * Returns up to `count` concatenated hashes of a tile level, starting at index `first`. Tile level 0 contains the
   * leaves, tile level 1 the nodes of tree level 8, and so on. The result ends before the first missing hash.
   */
  hashes(level: number, first: number, count: number): Uint8Array;
  /** Returns the index of the leaf of the event at exactly this position; undefined without such a leaf. */
  indexOf(position: LogPosition): number | undefined;
  /** Returns the latest `TreeHead` event in the log. */
  lastHead(): RecordedHead | undefined;
};

/** A `TreeHead` event in the log. `index` is the index of the event's own leaf, and `time` is an RFC 3339 time. */
export type RecordedHead = TreeSize & {
  readonly index: number;
  readonly time: string;
};

/** An event states a tree that differs from the tree that this node has folded from the log. */
export class TreeMismatchError extends Error {
  constructor(detail: string) {
    super(`the log differs from the tree that its events state: ${detail}`);
    this.name = 'TreeMismatchError';
  }
}
