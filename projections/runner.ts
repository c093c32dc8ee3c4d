import { setImmediate as nextTurn } from 'node:timers/promises';

import { logReadAheadEventsMax } from '../src/limits/log.ts';
import {
  epochShift,
  logStart,
  type EventLog,
  type LogIdentity,
  type LogPosition,
  type RecordedEvent,
} from '../src/log/log.ts';

/** A read model into which the runner folds events. */
export type Fold = {
  /** The categories of streams to fold. A category is the part of a stream's name before the colon. */
  readonly categories: readonly string[];
  /**
   * The maximum number of events in one transaction, because requests wait during a transaction. A single append may
   * have more events.
   */
  readonly sliceEventsMax: number;
  /** The position of the last folded event; `logStart` if no event is folded. */
  position(): LogPosition;
  /** The checkpoint of the last commit; undefined before the first commit. */
  checkpoint(): (LogIdentity & { readonly position: LogPosition; readonly eventId: string }) | undefined;
  identity(): LogIdentity;
  /** Deletes all folded contents. */
  clear(): void;
  /**
   * Folds whole appends, at least the first append of the batch, in one transaction. Returns the number of folded
   * events. Runs synchronously, so that no reader sees a part of the folded events.
   */
  apply(batch: readonly RecordedEvent[]): number;
};

/**
 * The read models were folded from another log, or from events that this log lacks. The operator must decide whether
 * the log or the read models are valid.
 */
export class CheckpointMismatchError extends Error {
  constructor(detail: string) {
    super(`the read models do not belong to this log: ${detail}`);
    this.name = 'CheckpointMismatchError';
  }
}

/** The fold of an event failed. `cause` is the original error. */
export class FoldError extends Error {
  constructor(cause: unknown) {
    super('the read models could not fold an event', { cause });
    this.name = 'FoldError';
  }
}

/** The progress of a catch-up. */
export type Progress = {
  /** The position of the last folded event, in percent of the head of the log when the current pass began. */
  readonly percent: number;
  /** The number of events that the catch-up has folded. */
  readonly folded: number;
};

/**
 * Folds all events up to the head of the log. Repeats this for events that were appended in the meantime, until one
 * pass folds fewer than `logReadAheadEventsMax` events.
 */
export async function catchUp(
  log: EventLog,
  fold: Fold,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress?: (progress: Progress) => void },
): Promise<void> {
  let folded = 0;
  for (let before = -1; folded - before >= logReadAheadEventsMax || before === -1;) {
    before = folded;
    const head = await log.head();
    for await (const batch of log.readAll({ after: fold.position(), categories: fold.categories, signal })) {
      folded += batch.length;
      await applySlices(fold, batch, 'yield');
      onProgress?.({ percent: percentOf(fold, head), folded });
    }
  }
}

/**
 * Folds each new event as it becomes durable. Resolves when `signal` aborts or the log closes. Rejects when the log or
 * a fold fails.
 *
 * `rest` is awaited after each batch. With `rest`, each batch waits one turn, so that other folds of the events run
 * first.
 */
export async function follow(
  log: EventLog,
  fold: Fold,
  signal: AbortSignal,
  { rest }: { readonly rest?: (signal: AbortSignal) => Promise<void> } = {},
): Promise<void> {
  for await (const batch of log.subscribe({ after: fold.position(), categories: fold.categories, signal })) {
    if (rest !== undefined) await nextTurn();
    await applySlices(fold, batch, batch.length > fold.sliceEventsMax ? 'yield' : 'at-once');
    await rest?.(signal);
  }
}

async function applySlices(fold: Fold, batch: readonly RecordedEvent[], pace: 'yield' | 'at-once'): Promise<void> {
  for (let start = 0; start < batch.length;) {
    const end = sliceEnd(batch, start, fold.sliceEventsMax);
    start += apply(fold, start === 0 && end === batch.length ? batch : batch.slice(start, end));
    // Yields, so that requests are answered between two slices.
    if (pace === 'yield' || start < batch.length) await nextTurn();
  }
}

/**
 * Returns the end of a slice of whole appends. A slice has at most `eventsMax` events, unless a single append has more.
 */
function sliceEnd(batch: readonly RecordedEvent[], start: number, eventsMax: number): number {
  const most = start + eventsMax;
  if (most >= batch.length) return batch.length;
  for (let end = most; end > start; end -= 1) if (batch[end - 1]?.endsAppend === true) return end;
  const next = batch.findIndex(({ endsAppend }, index) => index >= most && endsAppend);
  return next === -1 ? batch.length : next + 1;
}

function apply(fold: Fold, batch: readonly RecordedEvent[]): number {
  try {
    return fold.apply(batch);
  } catch (error) {
    throw new FoldError(error);
  }
}

function percentOf(fold: Fold, head: LogPosition): number {
  const start = epochShift(fold.identity().epoch);
  const [done, all] = [fold.position() - start, head - start];
  return all <= 0n || done >= all ? 100 : Math.max(0, Number((done * 100n) / all));
}

/**
 * Verifies that the read models belong to this log (docs/spec/consistency.md, 5). Clears the read models if a new epoch
 * has started.
 *
 * @throws CheckpointMismatchError if the read models were folded from another log or a later epoch, or if the log lacks
 * the last folded event.
 */
export async function verifyCheckpoint(log: EventLog, fold: Fold): Promise<void> {
  const checkpoint = fold.checkpoint();
  if (checkpoint === undefined || checkpoint.position === logStart) return;
  const { logId, epoch } = fold.identity();
  if (checkpoint.logId !== logId)
    throw new CheckpointMismatchError(`they were folded from the log ${checkpoint.logId}, but this log is ${logId}`);
  if (checkpoint.epoch > epoch)
    throw new CheckpointMismatchError(
      `they were folded from epoch ${String(checkpoint.epoch)}, but the log is in epoch ${String(epoch)}`,
    );
  if (checkpoint.epoch < epoch) {
    // The log of the new epoch may have other events than the old epoch at the folded positions.
    fold.clear();
    return;
  }
  const event = await log.readAt(checkpoint.position);
  if (event?.id !== checkpoint.eventId) {
    throw new CheckpointMismatchError(
      `they end with event ${checkpoint.eventId} at position ${checkpoint.position.toString()}, but ` +
        `the log has ${event?.id ?? 'no event'} there`,
    );
  }
}
