import type { EventLog, LogPosition, RecordedEvent } from '../../src/log/log.ts';
import { foldedCategories } from '../fold-event.ts';
import { FoldError, type Fold } from '../runner.ts';

/** The progress of one step of the work: the number of finished items, and the number of all items. */
export type Share = {
  readonly done: number;
  readonly all: number;
};

export type RebuildOptions = {
  /**
   * The last position that may be folded. An append that extends beyond `until` is left out, since no reader may see a
   * part of an append.
   */
  readonly until: LogPosition;
  /**
   * Called after each batch; may throw to end the work. `written`: the share of the results that the fold has written;
   * undefined while the fold reads events.
   */
  readonly onBatch: (written?: Share) => void | Promise<void>;
};

/** Folds the log's events after the fold's position, in the batches that the log returns. */
export async function rebuild(
  log: Pick<EventLog, 'readAll'>,
  fold: Pick<Fold, 'position' | 'apply'>,
  { until, onBatch }: RebuildOptions,
): Promise<void> {
  if (until <= fold.position()) return;
  const events = log.readAll({
    after: fold.position(),
    until,
    categories: foldedCategories,
    turn: () => Promise.resolve(),
  });
  for await (const batch of events) {
    for (let rest = wholeAppends(batch); rest.length > 0;) rest = rest.slice(applied(fold, rest));
    await onBatch();
  }
}

/** The batch without an incomplete append at its end. */
export function wholeAppends(batch: readonly RecordedEvent[]): readonly RecordedEvent[] {
  return batch.slice(0, batch.findLastIndex(({ endsAppend }) => endsAppend) + 1);
}

function applied(fold: Pick<Fold, 'apply'>, batch: readonly RecordedEvent[]): number {
  try {
    return fold.apply(batch);
  } catch (error) {
    throw new FoldError(error);
  }
}
