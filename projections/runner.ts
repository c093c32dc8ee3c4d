import { projectionBatchEventsMax } from '../src/limits.ts';
import { logStart, type EventLog, type LogPosition, type RecordedEvent } from '../src/log/log.ts';

/** What the runner drives: a fold that commits a batch and its checkpoint together and publishes in the same turn. */
export type Fold = {
  /** Up to where events are folded already; `logStart` for nothing yet. */
  position(): LogPosition;
  /** The checkpoint's log and event, to be verified against the log before anything is folded on top of it. */
  checkpoint(): { readonly logId: string; readonly position: LogPosition; readonly eventId: string } | undefined;
  /** Folds at most `projectionBatchEventsMax` events in one transaction. Synchronous, so that no reader sees half of it. */
  apply(batch: readonly RecordedEvent[]): void;
};

/** The read models were made from another log, or from more of it than there is: only the operator can say which is right. */
export class CheckpointMismatchError extends Error {
  constructor(detail: string) {
    super(`the read models do not belong to this log: ${detail}`);
    this.name = 'CheckpointMismatchError';
  }
}

const categories = ['object'];

/** Verifies the checkpoint (consistency protocol, 5), then folds everything the log holds. Resolves with the events folded. */
export async function catchUp(log: EventLog, fold: Fold, signal: AbortSignal): Promise<number> {
  await verifyCheckpoint(log, fold);
  let folded = 0;
  for await (const batch of log.readAll({ after: fold.position(), categories, signal })) {
    folded += batch.length;
    await applySlices(fold, batch, 'yield');
  }
  return folded;
}

/** Folds each new event as it becomes durable; resolves when `signal` aborts, rejects when the log or a fold breaks. */
export async function follow(log: EventLog, fold: Fold, signal: AbortSignal): Promise<void> {
  for await (const batch of log.subscribe({ after: fold.position(), categories, signal })) {
    await applySlices(fold, batch, batch.length > projectionBatchEventsMax ? 'yield' : 'at-once');
  }
}

async function applySlices(fold: Fold, batch: readonly RecordedEvent[], pace: 'yield' | 'at-once'): Promise<void> {
  for (let start = 0; start < batch.length; start += projectionBatchEventsMax) {
    fold.apply(start === 0 && batch.length <= projectionBatchEventsMax ? batch : batch.slice(start, start + projectionBatchEventsMax));
    // Requests go on being answered while a long log is folded.
    if (pace === 'yield') await new Promise((resolve) => { setImmediate(resolve); });
  }
}

async function verifyCheckpoint(log: EventLog, fold: Fold): Promise<void> {
  const checkpoint = fold.checkpoint();
  if (checkpoint === undefined || checkpoint.position === logStart) return;
  const logId = await log.identity();
  if (checkpoint.logId !== logId) throw new CheckpointMismatchError(`they fold log ${checkpoint.logId}, this is ${logId}`);
  const event = await log.readAt(checkpoint.position);
  if (event?.id !== checkpoint.eventId) {
    throw new CheckpointMismatchError(`they end at event ${checkpoint.eventId} at position ${checkpoint.position.toString()}, where the log has ${event?.id ?? 'none'}`);
  }
}
