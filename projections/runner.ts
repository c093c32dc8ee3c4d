import { foldedCategories } from './fold-event.ts';
import { logReadAheadEventsMax, projectionBatchEventsMax } from '../src/limits/log.ts';
import { epochShift, logStart, type EventLog, type LogIdentity, type LogPosition, type RecordedEvent } from '../src/log/log.ts';

/** What the runner drives: a fold that commits a batch and its checkpoint together and publishes in the same turn. */
export type Fold = {
  /** Up to where events are folded already; `logStart` for nothing yet. */
  position(): LogPosition;
  /** The checkpoint's log and event, to be verified against the log before anything is folded on top of it. */
  checkpoint(): (LogIdentity & { readonly position: LogPosition; readonly eventId: string }) | undefined;
  /** Of the log it folds. */
  identity(): LogIdentity;
  /** Forgets all that is folded. */
  clear(): void;
  /**
   * Folds the events of a batch of whole appends in one transaction, until its slice of time is over: at least the
   * first append, and none in part. Returns how many events. Synchronous, so that no reader sees half of it.
   */
  apply(batch: readonly RecordedEvent[]): number;
};

/** The read models were made from another log, or from more of it than there is: only the operator can say which is right. */
export class CheckpointMismatchError extends Error {
  constructor(detail: string) {
    super(`the read models do not belong to this log: ${detail}`);
    this.name = 'CheckpointMismatchError';
  }
}

/** A fold failed on an event it was given: to give it the same one again would not help. `cause` is what it threw. */
export class FoldError extends Error {
  constructor(cause: unknown) {
    super('the read models could not fold an event', { cause });
    this.name = 'FoldError';
  }
}

/** How far a catch-up is: whole percents of the log as it was when it began, and the events it has folded. */
export type Progress = { readonly percent: number; readonly folded: number };

/** Folds everything the log holds, and what is added meanwhile until little is left. */
export async function catchUp(log: EventLog, fold: Fold, { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress?: (progress: Progress) => void }): Promise<void> {
  let folded = 0;
  for (let before = -1; folded - before >= logReadAheadEventsMax || before === -1; ) {
    before = folded;
    const head = await log.head();
    for await (const batch of log.readAll({ after: fold.position(), categories: foldedCategories, signal })) {
      folded += batch.length;
      await applySlices(fold, batch, 'yield');
      onProgress?.({ percent: percentOf(fold, head), folded });
    }
  }
}

/** Folds each new event as it becomes durable; resolves when `signal` aborts, rejects when the log or a fold breaks. */
export async function follow(log: EventLog, fold: Fold, signal: AbortSignal): Promise<void> {
  for await (const batch of log.subscribe({ after: fold.position(), categories: foldedCategories, signal })) {
    await applySlices(fold, batch, batch.length > projectionBatchEventsMax ? 'yield' : 'at-once');
  }
}

async function applySlices(fold: Fold, batch: readonly RecordedEvent[], pace: 'yield' | 'at-once'): Promise<void> {
  for (let start = 0; start < batch.length;) {
    const end = sliceEnd(batch, start);
    start += apply(fold, start === 0 && end === batch.length ? batch : batch.slice(start, end));
    // Requests go on being answered while a long log is folded, or a slow index function called.
    if (pace === 'yield' || start < batch.length) await new Promise((resolve) => { setImmediate(resolve); });
  }
}

/** Whole appends: at most `projectionBatchEventsMax` events, unless one append alone holds more. */
function sliceEnd(batch: readonly RecordedEvent[], start: number): number {
  const most = start + projectionBatchEventsMax;
  if (most >= batch.length) return batch.length;
  for (let end = most; end > start; end -= 1) if (batch[end - 1]?.endsAppend === true) return end;
  const next = batch.findIndex(({ endsAppend }, place) => place >= most && endsAppend);
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

/** Whether the read models are of this log (consistency protocol, 5). A log that tells its past anew is folded anew. */
export async function verifyCheckpoint(log: EventLog, fold: Fold): Promise<void> {
  const checkpoint = fold.checkpoint();
  if (checkpoint === undefined || checkpoint.position === logStart) return;
  const { logId, epoch } = fold.identity();
  if (checkpoint.logId !== logId) throw new CheckpointMismatchError(`they fold log ${checkpoint.logId}, this is ${logId}`);
  if (checkpoint.epoch > epoch) throw new CheckpointMismatchError(`they fold its epoch ${String(checkpoint.epoch)}, this is ${String(epoch)}`);
  if (checkpoint.epoch < epoch) {
    // The operator began a new epoch: what was folded of the old one is told anew.
    fold.clear();
    return;
  }
  const event = await log.readAt(checkpoint.position);
  if (event?.id !== checkpoint.eventId) {
    throw new CheckpointMismatchError(`they end at event ${checkpoint.eventId} at position ${checkpoint.position.toString()}, where the log has ${event?.id ?? 'none'}`);
  }
}
