import { isLeafStream, leafEntry } from '../proof/leaf-entry.ts';
import { equalHashes, leafHash } from '../proof/merkle.ts';
import { logStart, type EventLog, type RecordedEvent } from '../../log/log.ts';
import type { FoldedTree } from '../../read/folded-tree.ts';
import type { Pace } from '../object-history.ts';

/** The log lacks the event of a leaf that this node has folded, or has a different event in its place. */
export class ChangedLeafError extends Error {
  constructor(index: number) {
    super(
      `the log does not show the event of leaf ${String(index)} of the tree: the log was changed or shows an old state`,
    );
    this.name = 'ChangedLeafError';
  }
}

/**
 * Returns the entry of a leaf for its event.
 *
 * @throws ChangedLeafError if the event differs from the leaf.
 */
export function entryOf(tree: Pick<FoldedTree, 'hashes'>, index: number, recorded: RecordedEvent): Buffer {
  const entry = leafEntry(recorded);
  if (!equalHashes(tree.hashes(0, index, 1), leafHash(entry))) throw new ChangedLeafError(index);
  return entry;
}

export type EntriesOptions = {
  readonly log: Pick<EventLog, 'readAll'>;
  /** The categories of all events that are leaves of the audit tree. */
  readonly categories: readonly string[];
  readonly signal: AbortSignal;
  /** Splits long work into slices, between which other work runs. */
  readonly pace: Pace;
};

/**
 * Returns the entries of adjacent leaves, each after its length in two bytes (a bundle of tlog-tiles). All leaves must
 * be in the tree. Rejects with the signal's reason after an abort.
 *
 * @throws ChangedLeafError, or an error of the log.
 */
export async function entryBundle(
  tree: Pick<FoldedTree, 'hashes' | 'positionOf'>,
  { first, count }: { readonly first: number; readonly count: number },
  { log, categories, signal, pace }: EntriesOptions,
): Promise<Buffer> {
  const after = first === 0 ? logStart : tree.positionOf(first - 1);
  const parts: Buffer[] = [];
  const until = tree.positionOf(first + count - 1);
  const turn = async (): Promise<void> => pace.next();
  for await (const batch of log.readAll({ after, until, categories, signal, turn })) {
    for (const recorded of batch) {
      if (!isLeafStream(recorded.stream)) continue;
      const entry = entryOf(tree, first + parts.length, recorded);
      const length = Buffer.allocUnsafe(2);
      length.writeUInt16BE(entry.length);
      parts.push(Buffer.concat([length, entry]));
      if (pace.isOver()) await pace.next();
    }
  }
  signal.throwIfAborted();
  if (parts.length !== count) throw new ChangedLeafError(first + parts.length);
  return Buffer.concat(parts);
}
