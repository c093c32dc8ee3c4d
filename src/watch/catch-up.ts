import type { Clock } from '../base/clock.ts';
import { must } from '../base/unreachable.ts';
import {
  watchAheadWaitMs,
  watchCatchUpSliceBytes,
  watchCatchUpSliceMs,
  watchCatchUpUnreadBytesMax,
} from '../limits/watches.ts';
import {
  isPermanentReadError,
  UnknownPositionError,
  type EventLog,
  type LogPosition,
  type RecordedEvent,
} from '../log/log.ts';
import { SnapshotsExhaustedError, type ObjectReader, type Wanted } from '../read/objects.ts';
import { join } from './batch.ts';
import { bookmark } from './bookmark.ts';
import type { FrameEncoding, WatchEvent } from './frame.ts';
import { Frames } from './frames.ts';
import type { LoggedReader, LoggedSource } from './logged-events.ts';
import { LogSilentError } from './log-silent-error.ts';
import { initialQuery, type Ending } from './watch-plan.ts';
import type { Watcher } from './watcher.ts';

/** The read models that a watch uses. */
export type WatchReader = Pick<ObjectReader, 'snapshots' | 'position' | 'isKnown' | 'reached' | 'objects'>;

export type CatchUpSource = {
  readonly log: Pick<EventLog, 'head' | 'readAll' | 'readStream' | 'state'>;
  readonly reader: WatchReader;
  readonly logged: LoggedSource;
  readonly clock: Clock;
  /** Returns the position of the hub's last batch. The hub publishes all later changes. */
  readonly position: () => LogPosition;
  /** Resolves when the catch-up may continue. All catch-ups together use only a part of each turn. */
  readonly turn: () => Promise<void>;
  /** Returns whether other catch-ups wait for a slot. A catch-up then releases its slot after each batch. */
  readonly isCrowded: () => boolean;
};

/**
 * Waits until this node has folded the events up to the start of the watch. If the log has not issued the start
 * position in its current epoch, the watch ends as expired, and the client must list again.
 */
export async function awaitStart(watcher: Watcher, { reader, log }: CatchUpSource): Promise<void> {
  const needed = neededBy(watcher);
  if (needed !== undefined && !reader.isKnown(needed)) watcher.end(expired(needed));
  while (needed !== undefined && watcher.state !== 'closed') {
    if ((await reader.reached(needed, { timeoutMs: watchAheadWaitMs })) === 'reached') return;
    const head = await log.head().catch(silent);
    if (needed > head)
      watcher.end({
        reason: 'expired',
        detail: `resourceVersion ${needed.toString()} is ahead of the log, which ends at ${head.toString()}`,
      });
  }
}

function expired(position: LogPosition): Ending {
  return {
    reason: 'expired',
    detail: `resourceVersion ${position.toString()} belongs to another event log or to another epoch of this log`,
  };
}

function silent(error: unknown): never {
  throw isPermanentReadError(error) ? error : new LogSilentError('the event log is unavailable', { cause: error });
}

function neededBy({ plan: { start } }: Watcher): LogPosition | undefined {
  switch (start.kind) {
    case 'state':
      return start.notBefore;
    case 'after':
      return start.position;
    case 'now':
      return undefined;
  }
}

/** Ends the read of a closed watch. The hub ignores this error, because the watcher is already closed. */
class WatchOverError extends Error {
  override readonly name = 'WatchOverError';
}

async function* answered(batches: AsyncIterable<readonly RecordedEvent[]>): AsyncGenerator<readonly RecordedEvent[]> {
  const iterator = batches[Symbol.asyncIterator]();
  try {
    for (let next = await iterator.next().catch(silent); next.done !== true; next = await iterator.next().catch(silent))
      yield next.value;
  } finally {
    await iterator.return?.();
  }
}

function isGivenUp(signal: AbortSignal): boolean {
  return signal.aborted;
}

/**
 * Brings a watcher up to date, slice by slice, with a bounded queue. The hub calls `log` again for changes that are
 * committed meanwhile. In the end, the rest is sent in the turn in which the watcher joins. The watcher thus misses no
 * change and receives no change twice.
 */
export class Replay {
  readonly #watcher: Watcher;
  readonly #source: CatchUpSource;
  readonly #encoding: FrameEncoding;
  readonly #events: LoggedReader;
  #parts: Uint8Array[] = [];
  /** The size of the objects in `#parts`, in bytes. */
  #bytes = 0;
  /** The monotonic time at which the current slice started. */
  #begunAt: number;
  /** Cancels the read of the initial state after the end of the watch. */
  readonly #wanted: Wanted = {
    throwIfAborted: () => {
      if (this.#isOver()) throw new WatchOverError();
    },
  };

  constructor(watcher: Watcher, source: CatchUpSource) {
    this.#watcher = watcher;
    this.#source = source;
    this.#encoding = watcher.sink.encoding;
    this.#begunAt = source.clock.monotonic();
    this.#events = source.logged.of(
      { readStream: async (...read) => source.log.readStream(...read).catch(silent) },
      watcher.plan,
    );
  }

  /** Sends the selected objects in their state at one position. The watch continues from this position. */
  async state(signal: AbortSignal): Promise<void> {
    const slot = await this.#source.reader.snapshots.take(this.#watcher.plan.client, signal);
    if (slot === undefined && signal.aborted) throw new LogSilentError('the wait for a snapshot was cancelled');
    if (slot === undefined) throw new SnapshotsExhaustedError(this.#source.reader.snapshots.held);
    try {
      await this.#state();
    } finally {
      slot.release();
    }
  }

  async #state(): Promise<void> {
    const { plan } = this.#watcher;
    await this.#turn();
    if (this.#isOver()) return;
    const { position, batches } = await this.#source.reader.objects(plan.type.key, initialQuery(plan), this.#wanted);
    for await (const objects of batches) {
      for (const object of objects) this.#take({ type: 'ADDED', object, position: undefined });
      this.#flush(undefined);
      await this.drained();
      if (this.#isOver()) return;
      await this.#turn();
    }
    const marksEnd = plan.bookmarks && plan.start.kind === 'state' && plan.start.marksEnd;
    if (marksEnd) this.#take(bookmark(plan.type, position, 'initial-events-end'));
    else this.#encoding.mark?.(position, this.#parts);
    this.#flush(position);
  }

  /**
   * Sends the events between the watcher's cursor and the hub's position. Sends only a part of the events if the peer
   * is behind, if the watch ends, or if another catch-up waits for a slot. The cursor records the progress.
   */
  async log(signal: AbortSignal): Promise<void> {
    try {
      await this.#log(signal);
    } catch (error) {
      if (!(error instanceof UnknownPositionError)) throw error;
      this.#watcher.end(expired(error.position));
    }
  }

  /** Waits until the peer has consumed the data or has disconnected. Resolves immediately if few bytes are unread. */
  async drained(): Promise<void> {
    const watcher = this.#watcher;
    const drained = this.#isBehind() ? watcher.outbox.drained() : undefined;
    if (drained === undefined) return;
    watcher.stall(this.#source.clock.monotonic());
    await drained;
    watcher.stall(undefined);
  }

  async #log(signal: AbortSignal): Promise<void> {
    await this.#turn();
    if (isGivenUp(signal) || !this.#source.log.state().reachable)
      throw new LogSilentError('the event log is unavailable');
    if (this.#isOver()) return;
    const after = must(this.#watcher.cursor, 'after its initial state a watcher has a cursor');
    const until = this.#source.position();
    const { categories } = this.#source.logged;
    const turn = async (): Promise<void> => this.#turn();
    for await (const batch of answered(this.#source.log.readAll({ after, until, categories, signal, turn }))) {
      await this.#turn();
      if (!(await this.#show(batch))) return;
      this.#flush(batch.at(-1)?.position ?? after);
      if (this.#isOver() || this.#isBehind() || this.#source.isCrowded()) return;
    }
    // An aborted read ends early without an error, so the signal is checked.
    if (isGivenUp(signal)) throw new LogSilentError('the event log stopped responding');
    this.#flush(until);
  }

  /**
   * Encodes the events of a batch, and sends each full slice. Returns false if the rest must wait for the peer, or if
   * the watch has ended.
   */
  async #show(batch: readonly RecordedEvent[]): Promise<boolean> {
    for (const recorded of batch) {
      if (!this.#events.concerns(recorded)) continue;
      const shown = this.#events.shown(recorded);
      const event = shown instanceof Promise ? await shown : shown;
      if (event !== undefined) this.#take(event);
      if (!this.#isWhole()) continue;
      this.#flush(recorded.position);
      if (this.#isOver() || this.#isBehind()) return false;
      await this.#turn();
    }
    return !this.#isOver();
  }

  async #turn(): Promise<void> {
    await this.#source.turn();
    this.#begunAt = this.#source.clock.monotonic();
  }

  #take(event: WatchEvent): void {
    this.#watcher.encode(event, this.#parts);
    this.#bytes += event.object.length;
  }

  /** Returns whether the current slice has reached its size or time limit. */
  #isWhole(): boolean {
    return (
      this.#bytes >= watchCatchUpSliceBytes || this.#source.clock.monotonic() - this.#begunAt >= watchCatchUpSliceMs
    );
  }

  #isBehind(): boolean {
    return this.#watcher.outbox.unreadBytes >= watchCatchUpUnreadBytesMax;
  }

  #isOver(): boolean {
    return this.#watcher.state === 'closed';
  }

  /** Sends the slice. The watcher has then received each selected event up to `cursor`. */
  #flush(cursor: LogPosition | undefined): void {
    const frames = this.#parts.length === 0 ? [] : [new Frames(join(this.#parts))];
    this.#parts = [];
    this.#bytes = 0;
    this.#watcher.replay(frames, cursor, this.#source.clock.monotonic());
  }
}
