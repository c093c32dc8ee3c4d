import { watchBookmarkMs, watchCatchUpStallMs, watchKeepAliveMs } from '../limits/watches.ts';
import type { LogPosition } from '../log/log.ts';
import { accountOf } from '../read/client.ts';
import { Frames } from './frames.ts';
import { bookmark } from './bookmark.ts';
import type { FrameEncoding, WatchEvent } from './frame.ts';
import type { Connection, Finish, Outbox, Outboxes } from './outbox.ts';
import type { Reviewed } from './reviews.ts';
import { watchedBy, type Ending, type Watched, type WatchPlan } from './watch-plan.ts';

/**
 * The interval between two calls of `beat` of each watcher. A keep-alive or a bookmark may be early, and a timed end
 * may be late, by at most this interval.
 */
export const watcherBeatMs = 1_000;

/** The part of a connection that the hub uses. No method waits or throws. */
export type Sink = Connection & {
  readonly encoding: FrameEncoding;
  /** Returns bytes without an event, which show intermediaries that the connection is in use. */
  keepAlive(now: number, cursor: LogPosition | undefined): Uint8Array;
  /** Returns whether the peer has not answered a ping for too long. */
  isUnresponsive(now: number): boolean;
  /** Returns frames with the reason of the end; undefined if the format has none. */
  closingFrames(ending: Ending): Uint8Array | undefined;
  /**
   * Closes the connection, with the reason if the protocol supports a reason. The connection has accepted all earlier
   * frames.
   */
  end(ending: Ending): void;
};

/**
 * A `catching-up` watcher reads the log at its own speed. A `live` watcher receives changes in the turn of their
 * commit.
 */
export type WatcherState = 'catching-up' | 'live' | 'closed';

export type WatcherOptions = {
  readonly now: number;
  readonly cursor: LogPosition | undefined;
  readonly outboxes: Outboxes;
  readonly onClosed: (watcher: Watcher) => void;
};

const rightsLost: Ending = { reason: 'rights-lost', detail: 'this watch is no longer allowed' };
const crowdedOut: Ending = {
  reason: 'too-slow',
  detail: 'the unread data of this user or of all users exceeds a limit; resume from the last resourceVersion',
};

/**
 * The lifecycle of a watcher:
 *
 *     catching-up ── join ──▶ live
 *          └── end, closed ───┴──────▶ closed
 *
 * A watcher that falls too far behind is disconnected, and its client must resume with a new request. A live watcher
 * never returns to `catching-up`.
 */
export class Watcher implements Reviewed {
  readonly plan: WatchPlan;
  readonly sink: Sink;
  readonly watched: Watched;
  /** The queue of frames that the connection has not accepted. */
  readonly outbox: Outbox;
  readonly #unreadBytesMax: number;
  readonly #onClosed: (watcher: Watcher) => void;
  #state: WatcherState = 'catching-up';
  /**
   * The position up to which all selected changes are written; undefined while the initial state is incomplete. A live
   * watcher uses the position of the hub instead.
   */
  #cursor: LogPosition | undefined;
  /**
   * The time of the last write; before the first write, of the opening. A keep-alive that is skipped because data is
   * unread counts as a write.
   */
  #wroteAt: number;
  #bookmarkedAt: number;
  /** The time since when the catch-up waits for the peer to read; undefined without a wait. */
  #stalledAt: number | undefined;
  readonly #endsAt: number;
  /** Whether the encoding has a special form for the first event, and no event was written yet. */
  #awaitsFirst: boolean;
  #isForgotten = false;

  constructor(plan: WatchPlan, sink: Sink, options: WatcherOptions) {
    this.plan = plan;
    this.sink = sink;
    this.watched = watchedBy(plan);
    this.outbox = options.outboxes.open(sink, {
      account: accountOf(plan.client),
      onOverflow: () => {
        this.end(crowdedOut);
      },
    });
    this.#unreadBytesMax = options.outboxes.watcherBytesMax;
    this.#onClosed = options.onClosed;
    this.#cursor = options.cursor;
    this.#wroteAt = options.now;
    this.#bookmarkedAt = options.now;
    this.#endsAt = options.now + (plan.timeoutMs ?? Infinity);
    this.#awaitsFirst = sink.encoding.encodeFirst !== undefined;
  }

  get state(): WatcherState {
    return this.#state;
  }

  get cursor(): LogPosition | undefined {
    return this.#cursor;
  }

  /** Whether the next event must be encoded as the first event of the stream. */
  get awaitsFirst(): boolean {
    return this.#awaitsFirst;
  }

  /** Records that the first event is encoded. Must be called when the first event is about to be written. */
  begin(): void {
    this.#awaitsFirst = false;
  }

  /**
   * Encodes an event that is not shared with other watchers: an object of the initial state, a past change or a
   * bookmark.
   */
  encode(event: WatchEvent, into: Uint8Array[]): void {
    const { encoding } = this.sink;
    if (this.#awaitsFirst && encoding.encodeFirst !== undefined) encoding.encodeFirst(event, into);
    else encoding.encode(event, into);
    this.begin();
  }

  /**
   * Writes frames of the initial state or of past changes. With these frames, the watcher has received everything up to
   * `cursor`; undefined if the initial state is incomplete. Does not wait for the peer.
   */
  replay(frames: readonly Frames[], cursor: LogPosition | undefined, now: number): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'live') throw new Error('a live watcher accepts no replayed frames');
    this.#cursor = cursor;
    for (const some of frames) this.#send(some, now);
  }

  /** Records the time since when the catch-up waits for the peer; undefined when the wait ends. */
  stall(since: number | undefined): void {
    this.#stalledAt = since;
  }

  /**
   * Makes the watcher live. Must be called when the watcher has received everything up to the position of the hub.
   * Returns false if the watcher is closed.
   */
  join(): boolean {
    if (this.#state === 'closed') return false;
    if (this.#state === 'live') throw new Error('the watcher has joined already');
    this.#state = 'live';
    return true;
  }

  /**
   * Writes the frames of one batch without waiting. A watcher above its limit of unread bytes is disconnected, and thus
   * does not delay other watchers.
   */
  offer(frames: readonly Frames[], now: number): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'catching-up') throw new Error('a watcher that is catching up accepts no published frames');
    const { unreadBytes } = this.outbox;
    if (unreadBytes > this.#unreadBytesMax) {
      this.end({
        reason: 'too-slow',
        detail: `the client has not read ${String(unreadBytes)} bytes; resume from the last resourceVersion`,
      });
      return;
    }
    for (const some of frames) this.#send(some, now);
  }

  /** Ends the watch, or writes a bookmark or a keep-alive, if due at `now`. `position` is the position of the hub. */
  beat(now: number, position: LogPosition): void {
    if (this.#state === 'closed') return;
    const cursor = this.#state === 'live' ? position : this.#cursor;
    const overdue = this.#overdue(now);
    if (overdue !== undefined) {
      if (overdue.reason === 'timed-out') this.#bookmark(cursor, now);
      this.end(overdue);
    } else if (
      this.plan.bookmarks &&
      cursor !== undefined &&
      now - this.#bookmarkedAt > watchBookmarkMs - watcherBeatMs
    ) {
      this.#bookmark(cursor, now);
    } else if (now - this.#wroteAt > watchKeepAliveMs - watcherBeatMs) {
      const sign = this.sink.keepAlive(now, cursor);
      // Unread data keeps the connection in use without a keep-alive.
      if (this.outbox.unreadBytes === 0) this.outbox.push(new Frames(sign));
      this.#wroteAt = now;
    }
  }

  hold(): void {
    this.outbox.hold();
  }

  applyVerdict(isAllowed: boolean): void {
    // A watcher that has ended for another reason may still have unsent frames.
    this.outbox.applyVerdict(isAllowed);
    if (!isAllowed) this.end(rightsLost);
  }

  /**
   * Ends the watch: no later change is delivered. The connection is closed in this turn or in a later turn, because
   * thousands of watches may end at the same time.
   */
  end(ending: Ending): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const rest = forgettingEndings.has(ending.reason) ? 'dropped' : 'sent';
    this.outbox.stop(rest, () => {
      this.#leave(ending, rest);
    });
  }

  /** Ends the watch without further writes. Must be called when the connection is closed. */
  closed(): void {
    this.#state = 'closed';
    this.outbox.stop('dropped', () => {
      this.#forget();
      this.outbox.closed();
    });
  }

  #send(frames: Frames, now: number): void {
    this.outbox.push(frames);
    this.#wroteAt = now;
  }

  #leave(ending: Ending, rest: Finish['rest']): void {
    this.#forget();
    if (ending.reason === 'unresponsive') {
      this.outbox.cut();
      return;
    }
    const closing = this.sink.closingFrames(ending);
    const last = closing === undefined ? undefined : new Frames(closing);
    this.outbox.finish({
      rest,
      last,
      close: () => {
        this.sink.end(ending);
      },
    });
  }

  #forget(): void {
    if (this.#isForgotten) return;
    this.#isForgotten = true;
    this.#onClosed(this);
  }

  #overdue(now: number): Ending | undefined {
    if (now >= this.#endsAt) return { reason: 'timed-out', detail: 'timeoutSeconds have passed' };
    if (this.sink.isUnresponsive(now)) return { reason: 'unresponsive', detail: 'the client does not answer pings' };
    if (this.#stalledAt !== undefined && now - this.#stalledAt >= watchCatchUpStallMs) {
      return { reason: 'too-slow', detail: 'the client does not read; resume from the last resourceVersion' };
    }
    return undefined;
  }

  #bookmark(cursor: LogPosition | undefined, now: number): void {
    if (!this.plan.bookmarks || cursor === undefined) return;
    this.#bookmarkedAt = now;
    const parts: Uint8Array[] = [];
    this.encode(bookmark(this.plan.type, cursor), parts);
    this.#send(new Frames(Buffer.concat(parts)), now);
  }
}

/** Endings that drop unsent frames: the peer is too far behind, or may no longer read the frames. */
const forgettingEndings: ReadonlySet<Ending['reason']> = new Set(['too-slow', 'rights-lost']);
