import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../base/clock.ts';
import { must } from '../base/unreachable.ts';
import { watchAheadWaitMs } from '../limits/watches.ts';
import { isSaidByLog, UnknownPositionError, type EventLog, type LogPosition, type RecordedEvent } from '../log/log.ts';
import type { ObjectReader } from '../read/objects.ts';
import { join } from './audience.ts';
import { bookmark, type FrameEncoding, type WatchEvent } from './frame.ts';
import { LoggedEvents } from './logged-events.ts';
import { initialQuery, type Ending } from './watch-plan.ts';
import type { Watcher } from './watcher.ts';

/** Bytes of frames made before the watcher is asked whether it can take more. */
export const catchUpSliceBytes = 262_144;

/** The log did not answer: the watch goes on from where it is once it does. */
export class LogSilentError extends Error {}

export type CatchUpSource = {
  readonly log: Pick<EventLog, 'head' | 'readAll' | 'readStream' | 'state'>;
  readonly reader: ObjectReader;
  readonly clock: Clock;
  /** The hub's: what is after it will be published. */
  readonly position: () => LogPosition;
  /** Makes the watcher live if what it has not seen is still at hand. False when more must be read. */
  readonly join: (watcher: Watcher) => boolean;
};

/**
 * Waits until this node holds what the watch begins with. A position that the log itself does not hold was never handed out
 * by it: the client's copy is of another log and must be made anew.
 */
export async function awaitStart(watcher: Watcher, { reader, log }: CatchUpSource): Promise<void> {
  const needed = neededBy(watcher);
  if (needed !== undefined && !reader.isKnown(needed)) watcher.end(expired(needed));
  while (needed !== undefined && watcher.state !== 'closed') {
    if ((await reader.reached(needed, { timeoutMs: watchAheadWaitMs })) === 'reached') return;
    const head = await log.head().catch(silent);
    if (needed > head) watcher.end({ reason: 'expired', detail: `resourceVersion ${needed.toString()} is ahead of the log, which ends at ${head.toString()}` });
  }
}

function expired(position: LogPosition): Ending {
  return { reason: 'expired', detail: `resourceVersion ${position.toString()} is not of this event log, or of another epoch of it` };
}

function silent(error: unknown): never {
  throw isSaidByLog(error) ? error : new LogSilentError('the event log does not answer', { cause: error });
}

function neededBy({ plan: { start } }: Watcher): LogPosition | undefined {
  switch (start.kind) {
    case 'state': return start.notBefore;
    case 'after': return start.position;
    case 'now': return undefined;
  }
}

/**
 * Brings a watcher to the present. What happens meanwhile is read too, until the rest is short enough to be handed over in
 * the turn the watcher joins: so there is neither a gap nor a repeat, and nothing is kept for a watcher that reads slowly.
 */
export async function catchUp(watcher: Watcher, source: CatchUpSource, signal: AbortSignal): Promise<void> {
  const replay = new Replay(watcher, source);
  if (watcher.cursor === undefined) await replay.state();
  try {
    while (watcher.state === 'catching-up' && !source.join(watcher)) await replay.log(signal);
  } catch (error) {
    if (!(error instanceof UnknownPositionError)) throw error;
    watcher.end(expired(error.position));
  }
}

async function* answered(batches: AsyncIterable<readonly RecordedEvent[]>): AsyncGenerator<readonly RecordedEvent[]> {
  const iterator = batches[Symbol.asyncIterator]();
  try {
    for (let next = await iterator.next().catch(silent); next.done !== true; next = await iterator.next().catch(silent)) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

function isGivenUp(signal: AbortSignal): boolean {
  return signal.aborted;
}

class Replay {
  readonly #watcher: Watcher;
  readonly #source: CatchUpSource;
  readonly #encoding: FrameEncoding;
  readonly #events: LoggedEvents;
  #parts: Uint8Array[] = [];
  /** Of the objects in `#parts`. */
  #bytes = 0;

  constructor(watcher: Watcher, source: CatchUpSource) {
    this.#watcher = watcher;
    this.#source = source;
    this.#encoding = watcher.sink.encoding;
    this.#events = new LoggedEvents({ readStream: async (...read) => source.log.readStream(...read).catch(silent) }, watcher.plan);
  }

  /** The present objects, all as they are at one position, where the watch goes on. */
  async state(): Promise<void> {
    const { plan } = this.#watcher;
    const { position, batches } = this.#source.reader.objects(plan.type.key, initialQuery(plan));
    for await (const objects of batches) {
      for (const object of objects) this.#take({ type: 'ADDED', object, position: undefined });
      if (!(await this.#flush(undefined))) return;
    }
    const marksEnd = plan.bookmarks && plan.start.kind === 'state' && plan.start.marksEnd;
    if (marksEnd) this.#take(bookmark(plan.type, position, 'initial-events-end'));
    else this.#encoding.mark?.(position, this.#parts);
    await this.#flush(position);
  }

  /** All events between what the watcher has seen and the hub's position. */
  async log(signal: AbortSignal): Promise<void> {
    if (isGivenUp(signal) || !this.#source.log.state().reachable) throw new LogSilentError('the event log does not answer');
    const after = must(this.#watcher.cursor, 'after its initial state a watcher has a cursor');
    const until = this.#source.position();
    for await (const batch of answered(this.#source.log.readAll({ after, until, categories: ['object'], signal }))) {
      if (!(await this.#show(batch)) || !(await this.#flush(batch.at(-1)?.position ?? after))) return;
      // A long log that is in memory would be read in one turn.
      await nextTurn();
    }
    // A read that was given up has not come to its end.
    if (isGivenUp(signal)) throw new LogSilentError('the event log ceased to answer');
    await this.#flush(until);
  }

  /** False when nobody is there any more. */
  async #show(batch: readonly RecordedEvent[]): Promise<boolean> {
    for (const recorded of batch) {
      if (!this.#events.concerns(recorded)) continue;
      const shown = this.#events.shown(recorded);
      const event = shown instanceof Promise ? await shown : shown;
      if (event !== undefined) this.#take(event);
      if (this.#bytes >= catchUpSliceBytes && !(await this.#flush(recorded.position))) return false;
    }
    return true;
  }

  #take(event: WatchEvent): void {
    this.#encoding.encode(event, this.#parts);
    this.#bytes += event.object.length;
  }

  /** Sends what is there and waits until the peer has taken it. False when nobody is there any more. */
  async #flush(cursor: LogPosition | undefined): Promise<boolean> {
    const watcher = this.#watcher;
    watcher.replay(join(this.#parts), cursor, this.#source.clock.monotonic());
    this.#parts = [];
    this.#bytes = 0;
    const drained = watcher.state === 'closed' ? undefined : watcher.sink.drained();
    if (drained !== undefined) {
      watcher.stall(this.#source.clock.monotonic());
      await drained;
      watcher.stall(undefined);
    }
    return watcher.state !== 'closed';
  }
}
