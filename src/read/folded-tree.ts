import type { TreeSize } from '../command/event.ts';
import type { LogPosition } from '../log/log.ts';
import type { TreeReader } from './tree.ts';

/** The Merkle tree over the events that this node has folded, with its tiles (docs/spec/tree.md). */
export type FoldedTree = Pick<TreeReader, 'size' | 'root' | 'nodeHash' | 'positionOf' | 'leavesUntil'> & {
  /**
   * Up to `count` hashes of tile level `level` from index `first` on, concatenated. Tile level 0 has the leaves, tile
   * level 1 the nodes of tree level 8, and so on. The result ends before the first missing hash.
   */
  hashes(level: number, first: number, count: number): Uint8Array;
  /** The index of the leaf of the event at exactly this position; undefined if the position has no leaf. */
  indexOf(position: LogPosition): number | undefined;
  /** The latest `TreeHead` in the log. */
  lastHead(): RecordedHead | undefined;
};

/** A `TreeHead` event in the log. `index`: the index of the event's own leaf. `time`: an RFC 3339 time. */
export type RecordedHead = TreeSize & { readonly index: number; readonly time: string };

/** An event states another tree than the tree that this node has folded from the log. */
export class TreeMismatchError extends Error {
  constructor(detail: string) {
    super(`the log is not the one that its events describe: ${detail}`);
    this.name = 'TreeMismatchError';
  }
}
