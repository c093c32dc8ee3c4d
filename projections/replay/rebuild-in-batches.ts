import type { EventLog, LogPosition, RecordedEvent } from '../../src/log/log.ts';
import { FoldError } from '../runner.ts';
import { wholeAppends, type RebuildOptions } from './rebuild.ts';
import { endOfAppends, scannedLog } from './scanned-log.ts';

/** A fold that takes events into memory, and writes many events in one transaction. */
export type BatchFold = {
  position(): LogPosition;
  /** Takes an event, and returns the estimated bytes in memory of all events since the last commit. */
  add(recorded: RecordedEvent): number;
  commit(): void;
};

type BatchOptions = RebuildOptions & {
  readonly categories: readonly string[];
  /** The size in bytes at which the open batch is written. */
  readonly bytesMax: number;
  /**
   * `ScanOptions.indexedUntil`: up to this position, another reader checks the log's index of streams, so the scan need
   * not check it.
   */
  readonly indexedUntil: LogPosition;
};

/**
 * Folds the log's events after the fold's position, in batches of about `bytesMax`. A commit before the last one may
 * split an append, so the tables must not be read before the end.
 */
export async function rebuildInBatches(
  log: Pick<EventLog, 'readAll' | 'readAt' | 'scan'>,
  fold: BatchFold,
  { until, onBatch, categories, bytesMax, indexedUntil }: BatchOptions,
): Promise<void> {
  const after = fold.position();
  if (until <= after) return;
  let bytes = 0;
  const add = (recorded: RecordedEvent): void => {
    bytes = ofFold(() => fold.add(recorded));
  };
  const endBatch = async (): Promise<void> => {
    if (bytes >= bytesMax) {
      commit(fold);
      bytes = 0;
    }
    await onBatch();
  };
  const scanned = scannedLog(log);
  if (scanned === undefined) {
    const turn = (): Promise<void> => Promise.resolve();
    for await (const batch of log.readAll({ after, until, categories, turn })) {
      for (const recorded of wholeAppends(batch)) add(recorded);
      await endBatch();
    }
  } else {
    const last = await endOfAppends(scanned, { after, until });
    const options = { categories, indexedUntil, visit: add, onBatch: endBatch };
    if (last > after) await scanned.scan({ ...options, after, until: last });
  }
  await onBatch({ done: 0, all: 1 });
  commit(fold);
}

function commit(fold: BatchFold): void {
  ofFold(() => {
    fold.commit();
  });
}

function ofFold<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new FoldError(error);
  }
}
