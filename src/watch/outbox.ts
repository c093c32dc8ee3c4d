import type { Clock, Timer } from '../base/clock.ts';
import { Fifo } from '../base/fifo.ts';
import {
  watchBufferedBytesMax,
  watchBuffersBytesMax,
  watchJoinedWriteBytesMax,
  watchStreamEndMs,
  watchTurnMs,
  watchUserBuffersBytesMax,
} from '../limits/watches.ts';
import { BufferBudget, type Account, type BudgetBounds, type Queue } from './buffer-budget.ts';
import { Frames } from './frames.ts';
import { Slices } from './slices.ts';

/** The part of a connection that a queue uses. No method waits or throws. */
export type Connection = {
  /** Starts one write. `onWritten` is called when the connection has accepted all bytes or is closed. */
  write(bytes: Uint8Array, onWritten: () => void): void;
  cut(): void;
};

/** The end of a queue: the queue sends or drops its unsent frames (`rest`), sends `last`, and then calls `close`. */
export type Finish = {
  readonly rest: 'sent' | 'dropped';
  readonly last: Frames | undefined;
  /** Called when the connection has accepted all frames; not called if the queue is cut or closed before. */
  readonly close: () => void;
};

type OutboxOptions = {
  readonly account: string;
  /** Called when the queue must end because a limit is exceeded. The listener must call `stop` or `finish`. */
  readonly onOverflow: () => void;
};

export type OutboxBounds = BudgetBounds & { readonly watcherBytesMax: number };

const outboxBounds: OutboxBounds = {
  bytesMax: watchBuffersBytesMax,
  accountBytesMax: watchUserBuffersBytesMax,
  watcherBytesMax: watchBufferedBytesMax,
};

/** Queues of frames that share a budget and a part of each turn. */
export class Outboxes {
  readonly clock: Clock;
  readonly slices: Slices;
  readonly budget: BufferBudget;
  /** The limit of unread bytes of one watcher. */
  readonly watcherBytesMax: number;

  constructor(clock: Clock, bounds: OutboxBounds = outboxBounds) {
    this.clock = clock;
    this.watcherBytesMax = bounds.watcherBytesMax;
    this.slices = new Slices(clock, watchTurnMs);
    this.budget = new BufferBudget(this.slices, bounds);
  }

  open(connection: Connection, options: OutboxOptions): Outbox {
    return new Outbox(connection, this, options);
  }
}

/**
 * The frames that one connection has not accepted: at most one write in progress, and the waiting frames. Destroying a
 * connection with thousands of pending writes takes seconds; with a single pending write it takes microseconds.
 *
 * ```text
 * open ── stop ──▶ stopped ── finish ──▶ finishing ── written ──▶ closing
 *  └──────────────────┴─── cut, closed ──────┴───────────────────────┴──▶ closed
 * ```
 */
export class Outbox implements Queue {
  readonly #connection: Connection;
  readonly #all: Outboxes;
  readonly #account: Account;
  readonly #onOverflow: () => void;
  #state: 'open' | 'stopped' | 'finishing' | 'closing' | 'closed' = 'open';
  /** Unsent frames, the next frame first. The budget includes these frames and `#pending`. */
  #queue = new Fifo<Frames>();
  #queuedBytes = 0;
  /** The frames that were passed to the connection but are not accepted yet. */
  #pending: Frames | undefined;
  /** Whether the queue waits for a turn. */
  #isWaiting = false;
  /** Whether `#advance` is running. Prevents recursion, because a connection may accept a write synchronously. */
  #isAtWork = false;
  /** Whether no write may start: after `hold`, or after a stop that drops the unsent frames. */
  #isHeld = false;
  #finish: Finish | undefined;
  #deadline: Timer | undefined;
  readonly #drained: (() => void)[] = [];

  constructor(connection: Connection, all: Outboxes, { account, onOverflow }: OutboxOptions) {
    this.#connection = connection;
    this.#all = all;
    this.#account = all.budget.enter(account, this);
    this.#onOverflow = onOverflow;
  }

  get unreadBytes(): number {
    return this.#queuedBytes + (this.#pending?.bytes.length ?? 0);
  }

  push(frames: Frames): void {
    if (this.#state !== 'open' || frames.bytes.length === 0) return;
    this.#add(frames);
    this.#advance();
    this.#all.budget.relieve(this.#account);
  }

  /** Waits until no frame is unread or the connection is closed. Returns undefined if no wait is needed. */
  drained(): Promise<void> | undefined {
    if (this.unreadBytes === 0 || this.#state === 'closed') return undefined;
    return new Promise((resolve) => {
      this.#drained.push(resolve);
    });
  }

  /**
   * Stops accepting frames. With `dropped`, no write starts before `finish`. `leave` must call `finish`, `cut` or
   * `closed`. `leave` runs now or in a later turn, because thousands of queues may stop at the same time.
   */
  stop(rest: Finish['rest'], leave: () => void): void {
    if (this.#state === 'open') {
      this.#state = 'stopped';
      this.#isHeld ||= rest === 'dropped';
    }
    this.#all.slices.runNowOrLater({ run: leave });
  }

  /** Prevents writes until `applyVerdict` is called, while a check decides whether the peer may read the frames. */
  hold(): void {
    if (this.#state !== 'closing' && this.#state !== 'closed') this.#isHeld = true;
  }

  /** Ends the effect of `hold`. Drops the unsent frames if the peer may not read the frames. */
  applyVerdict(isAllowed: boolean): void {
    if (!isAllowed) this.#drop();
    this.#isHeld = false;
    this.#advance();
  }

  /** Ends the queue. Does nothing if the queue is already ending. */
  finish(finish: Finish): void {
    if (this.#state !== 'open' && this.#state !== 'stopped') return;
    this.#state = 'finishing';
    this.#finish = finish;
    // The hold can end, because the unsent frames are dropped before the next write.
    if (finish.rest === 'dropped') this.#isHeld = false;
    this.#all.budget.leave(this.#account, this);
    this.#deadline = this.#all.clock.after(watchStreamEndMs, () => {
      this.cut();
    });
    this.#advance();
  }

  overflow(): void {
    this.#onOverflow();
    if (this.#state === 'open') {
      this.cut();
      return;
    }
    // The listener's `finish` may wait for a turn, but a stopped queue must release its memory now.
    if (this.#state === 'stopped') this.#all.budget.leave(this.#account, this);
    this.#drop();
  }

  cut(): void {
    if (this.#state === 'closed') return;
    this.closed();
    this.#all.slices.runLater({
      run: () => {
        this.#connection.cut();
      },
    });
  }

  /** Drops all frames and forgets the queue. Must be called when the connection is closed. */
  closed(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#finish = undefined;
    this.#deadline?.cancel();
    this.#drop();
    this.#release();
    this.#all.budget.forget(this.#account, this);
    this.#wake();
  }

  /** Continues the queue, in a later turn. */
  run(): void {
    this.#isWaiting = false;
    this.#advance();
  }

  #add(frames: Frames): void {
    this.#all.budget.hold(this.#account, frames);
    this.#queue.push(frames);
    this.#queuedBytes += frames.bytes.length;
  }

  readonly #onWritten = (): void => {
    if (this.#pending === undefined) return;
    this.#release();
    this.#advance();
  };

  /** Performs steps while the connection accepts data and the turn has time. */
  #advance(): void {
    if (this.#isAtWork || this.#isWaiting) return;
    this.#isAtWork = true;
    while (this.#isDue() && this.#all.slices.hasTime()) this.#step();
    this.#isAtWork = false;
    if (this.#isDue()) {
      this.#isWaiting = true;
      this.#all.slices.runLater(this);
    } else if (this.unreadBytes === 0) {
      this.#wake();
    }
  }

  #isDue(): boolean {
    if (this.#isHeld) return false;
    if (this.#state === 'open' || this.#state === 'stopped')
      return this.#pending === undefined && this.#queue.length > 0;
    return this.#state === 'finishing' && (this.#pending === undefined || this.#finish?.rest === 'dropped');
  }

  #step(): void {
    if (this.#finish !== undefined) this.#stepToEnd(this.#finish);
    else this.#writeNext();
  }

  #stepToEnd({ rest, last, close }: Finish): void {
    if (rest === 'dropped') this.#drop();
    if (rest === 'dropped' || last !== undefined) {
      if (last !== undefined) this.#add(last);
      this.#finish = { rest: 'sent', last: undefined, close };
    } else if (this.#queue.length > 0) {
      this.#writeNext();
    } else {
      this.#state = 'closing';
      close();
    }
  }

  #writeNext(): void {
    this.#pending = this.#next();
    if (this.#pending !== undefined) this.#connection.write(this.#pending.bytes, this.#onWritten);
  }

  /** Removes the next frame, or several small frames, for one write. */
  #next(): Frames | undefined {
    const first = this.#shift();
    if (first === undefined || this.#queue.length === 0) return first;
    const parts = [first];
    let bytes = first.bytes.length;
    for (
      let next = this.#queue.peek();
      next !== undefined && bytes + next.bytes.length <= watchJoinedWriteBytesMax;
      next = this.#queue.peek()
    ) {
      parts.push(next);
      bytes += next.bytes.length;
      this.#shift();
    }
    if (parts.length === 1) return first;
    const joined = new Frames(
      Buffer.concat(
        parts.map((part) => part.bytes),
        bytes,
      ),
    );
    this.#all.budget.hold(this.#account, joined);
    for (const part of parts) this.#all.budget.release(this.#account, part);
    return joined;
  }

  #shift(): Frames | undefined {
    const frames = this.#queue.shift();
    this.#queuedBytes -= frames?.bytes.length ?? 0;
    return frames;
  }

  #drop(): void {
    for (let frames = this.#shift(); frames !== undefined; frames = this.#shift())
      this.#all.budget.release(this.#account, frames);
  }

  #release(): void {
    if (this.#pending !== undefined) this.#all.budget.release(this.#account, this.#pending);
    this.#pending = undefined;
  }

  #wake(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
