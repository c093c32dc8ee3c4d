import { EventCursor, LogCopyError } from './log-copy-cursor.ts';
import { comparePrefix, verifyCopy } from './log-copy-comparison.ts';
import type { CopyContext, CopySource, LogCopyOptions } from './log-copy-context.ts';
import { finishCopy, foundCopy, sourceFounding, targetFounding } from './log-copy-founding.ts';
import { CopyPipeline } from './log-copy-pipeline.ts';
import { CopyProgress, logCopyStallMs } from './log-copy-progress.ts';
import { retryRead } from './log-copy-retry.ts';
import type { Founding } from '../log/founded-log.ts';
import { logStart, type EventLog, type LogPosition } from '../log/log.ts';

export type CopiedLog = {
  readonly logId: string;
  readonly epoch: number;
  readonly events: number;
  /** False if the target was already a complete copy. */
  readonly written: boolean;
};

/**
 * Copies a log event by event, with the same ids, types, data, metadata, revisions and order. Does not copy the
 * founding and leases; the target has its own founding, in the next epoch. After an interruption, the next call with
 * the same logs resumes the copy.
 *
 * @throws LogCopyError if the copy cannot start or continue.
 */
export async function copyLog(options: LogCopyOptions): Promise<CopiedLog> {
  const progress = new CopyProgress(options);
  const ending = new AbortController();
  const signal = options.signal === undefined ? ending.signal : AbortSignal.any([ending.signal, options.signal]);
  const watch = watchStandstill(options, progress, ending);
  try {
    return await copy({ ...options, signal, progress });
  } finally {
    watch.cancel();
  }
}

async function copy(context: CopyContext): Promise<CopiedLog> {
  const { source: log, openTarget } = context;
  const founding = await sourceFounding(log);
  let target = await openTarget();
  try {
    const before = await targetFounding(target, founding);
    const head = await log.head();
    const source: CopySource = { founding, head, events: await countSource(context, head) };
    await assertNotGrown(context, source, 'refused');
    if (before?.finished === true) return finishedAlready(before, source.events);
    const begun = before ?? (await foundCopy(context, target, founding));
    await copyRest(context, source, target);
    await assertNotGrown(context, source, 'failed');
    await target.close();
    target = await openTarget();
    const tree = await verifyCopy(context, source, target);
    await assertNotGrown(context, source, 'failed');
    await finishCopy(context, target, { source, begun, tree });
    return {
      logId: begun.logId,
      epoch: begun.epoch,
      events: source.events,
      written: true,
    };
  } finally {
    await target.close();
  }
}

function finishedAlready({ logId, epoch, copied }: Founding, events: number): CopiedLog {
  if (copied === events) return { logId, epoch, events, written: false };
  throw new LogCopyError(
    'refused',
    `the target is a finished copy of the source with ${String(copied)} events, but the source has ` +
      `${events.toString()} events now: copy the source into an empty log`,
  );
}

/** Counts the events of the source. The read also detects damaged records before the first append. */
async function countSource({ source: log, progress, signal }: CopyContext, head: LogPosition): Promise<number> {
  progress.begin('reading the source');
  const cursor = new EventCursor(log, { side: 'source', after: logStart, until: head, signal });
  let events = 0;
  try {
    while ((await cursor.next()) !== undefined) {
      events += 1;
      progress.advance();
    }
  } catch (error) {
    if (error instanceof LogCopyError) throw new LogCopyError('refused', error.message, { cause: error });
    throw error;
  } finally {
    await cursor.close();
  }
  progress.end();
  return events;
}

/** Refuses a source with new events. Even the renewal of a lease proves that a server runs on the source. */
async function assertNotGrown(context: CopyContext, { head }: CopySource, kind: 'refused' | 'failed'): Promise<void> {
  if ((await retryRead(context, () => context.source.head())) === head) return;
  throw new LogCopyError(
    kind,
    'the source has grown, so a server is running on it: stop all servers of the source and copy ' +
      `again${kind === 'failed' ? '; the events in the target are kept' : ''}`,
  );
}

/** Compares the events in the target with the source, and appends the remaining events. */
async function copyRest(context: CopyContext, source: CopySource, target: EventLog): Promise<void> {
  const { source: log, clock, signal, progress, inFlightMax } = context;
  const events = new EventCursor(log, { side: 'source', after: logStart, until: source.head, signal });
  try {
    const { standing, last, next } = await comparePrefix(context, target, events);
    progress.begin('copying', source.events - standing);
    const pipeline = new CopyPipeline({
      target,
      after: last,
      inFlightMax,
      clock,
      signal,
      onCopied: () => {
        progress.advance();
      },
    });
    for (let event = next; event !== undefined; event = await events.next()) await pipeline.push(event);
    await pipeline.drain();
    progress.end();
  } finally {
    await events.close();
  }
}

/** Prints a message while the copy makes no progress, and stops the copy after `logCopyStallMs`. */
function watchStandstill(
  { source, clock, print }: LogCopyOptions,
  progress: CopyProgress,
  ending: AbortController,
): { cancel(): void } {
  let beats = progress.beats;
  let stillMs = 0;
  const everyMs = 5_000;
  const check = (): void => {
    stillMs = progress.beats === beats ? stillMs + everyMs : 0;
    beats = progress.beats;
    if (stillMs >= logCopyStallMs) {
      ending.abort(
        new LogCopyError(
          'failed',
          `no progress for ${String(logCopyStallMs / 1_000)} s: when both logs are available, ` +
            'run the same command again to resume',
        ),
      );
      return;
    }
    const state = source.state();
    if (stillMs > 0) print(state.reachable ? 'waiting for the logs' : `waiting for the source: ${state.reason}`);
    timer = clock.after(everyMs, check);
  };
  let timer = clock.after(everyMs, check);
  return {
    cancel: () => {
      timer.cancel();
    },
  };
}
