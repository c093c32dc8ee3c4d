import type { TreeSize } from '../command/event.ts';
import type { LogPosition } from '../log/log.ts';
import type { TreeReader } from './tree.ts';

/** The Merkle tree over the events that this node has folded, with its tiles (docs/spec/tree.md). */
export type FoldedTree = Pick<TreeReader, 'size' | 'root' | 'nodeHash' | 'positionOf' | 'leavesUntil'> & {
  /**
   * The hashes of tile level `level` from `first` on, beside one another. `level` 0 has the leaves, 1 the nodes of
   * level 8, and so on. Those that do not exist yet are left out.
   */
  hashes(level: number, first: number, count: number): Uint8Array;
  /** The leaf of the event at exactly this position; undefined if none is there. */
  indexOf(position: LogPosition): number | undefined;
  /** The latest `TreeHead` in the log. */
  lastHead(): RecordedHead | undefined;
};

/** The `TreeHead` is a leaf itself, at `index`. `time` is RFC 3339. */
export type RecordedHead = TreeSize & { readonly index: number; readonly time: string };

/** An event says that the log had another tree than this node has folded from it. */
export class TreeMismatchError extends Error {
  constructor(detail: string) {
    super(`the log is not the one that its events describe: ${detail}`);
    this.name = 'TreeMismatchError';
  }
}
