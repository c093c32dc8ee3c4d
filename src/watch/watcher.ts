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
 * The interval of each watcher's timer: keep-alives and bookmarks may be this much early, a timed end this much late.
 */
export const watcherBeatMs = 1_000;

/** A connection, as the hub uses it. No method waits or throws. */
export type Sink = Connection & {
  readonly encoding: FrameEncoding;
  /** Bytes without an event, which show intermediaries that the connection is in use. */
  keepAlive(now: number, cursor: LogPosition | undefined): Uint8Array;
  /** Whether the peer has not answered a ping for too long. */
  isUnresponsive(now: number): boolean;
  /** Frames with the reason of the end, if the format has one. */
  closingFrames(ending: Ending): Uint8Array | undefined;
  /**
   * Closes the connection, with the reason if the protocol supports it. All frames written before have been accepted.
   */
  end(ending: Ending): void;
};

/**
 * The only states. A watcher that is `catching-up` reads the log at its own speed; a `live` one receives changes in the
 * turn of their commit.
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
  detail: 'the unread data of all watches exceeds its limit; resume from the last resourceVersion',
};

/**
 * The lifecycle of a watcher:
 *
 * catching-up ── join ──▶ live
 * └── end, gone ─────┴──────▶ closed
 *
 * A watcher that falls too far behind is disconnected and must resume with a new request: it never returns to
 * `catching-up`.
 */
export class Watcher implements Reviewed {
  readonly plan: WatchPlan;
  readonly sink: Sink;
  readonly watched: Watched;
  /** The frames that the connection has not accepted. */
  readonly outbox: Outbox;
  readonly #unreadBytesMax: number;
  readonly #onClosed: (watcher: Watcher) => void;
  #state: WatcherState = 'catching-up';
  /**
   * The position up to which all selected changes are written; undefined while an initial state is incomplete. A live
   * watcher uses the hub's position instead.
   */
  #cursor: LogPosition | undefined;
  /** The time of the last write. */
  #wroteAt: number;
  #bookmarkedAt: number;
  /** The time since when a catch-up waits for its peer to read; undefined if it does not wait. */
  #stalledAt: number | undefined;
  readonly #endsAt: number;
  /** Whether nothing was written yet to a stream with a special encoding of its first event. */
  #awaitsFirst: boolean;
  /** Whether the hub has removed it. */
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

  /** Whether its next event needs the encoding of a first one. */
  get awaitsFirst(): boolean {
    return this.#awaitsFirst;
  }

  /** Call it when the first event is encoded and about to be written. */
  begin(): void {
    this.#awaitsFirst = false;
  }

  /** Encodes the next event for this watcher alone. */
  encode(event: WatchEvent, into: Uint8Array[]): void {
    const { encoding } = this.sink;
    if (this.#awaitsFirst && encoding.encodeFirst !== undefined) encoding.encodeFirst(event, into);
    else encoding.encode(event, into);
    this.begin();
  }

  /** Writes frames of past changes; everything up to `cursor` is then written. The catch-up waits for the peer. */
  replay(frames: readonly Frames[], cursor: LogPosition | undefined, now: number): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'live') throw new Error('a live watcher is not replayed to');
    this.#cursor = cursor;
    for (const some of frames) this.#send(some, now);
  }

  /** Call it when the catch-up starts or stops waiting for the peer. */
  stall(since: number | undefined): void {
    this.#stalledAt = since;
  }

  /**
   * Makes the watcher live: it has received everything up to the hub's position, and gets later changes when they
   * happen. Returns false if it is closed.
   */
  join(): boolean {
    if (this.#state === 'closed') return false;
    if (this.#state === 'live') throw new Error('a watcher joins once');
    this.#state = 'live';
    return true;
  }

  /**
   * Writes the frames of one batch. Never waits: a watcher that exceeds its limit is disconnected, without effect on
   * others.
   */
  offer(frames: readonly Frames[], now: number): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'catching-up') throw new Error('a watcher that catches up reads for itself');
    const { unreadBytes } = this.outbox;
    if (unreadBytes > this.#unreadBytesMax) {
      this.end({
        reason: 'too-slow',
        detail: `${String(unreadBytes)} bytes are unread; resume from the last resourceVersion`,
      });
      return;
    }
    for (const some of frames) this.#send(some, now);
  }

  /** Takes at most one action that is due at `now`. `position`: the hub's. */
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
      // Unread data keeps the connection active by itself.
      if (this.outbox.unreadBytes === 0) this.outbox.push(new Frames(sign));
      this.#wroteAt = now;
    }
  }

  hold(): void {
    this.outbox.hold();
  }

  applyVerdict(isAllowed: boolean): void {
    // A watcher that has ended meanwhile for another reason may have unsent frames, so the result still applies.
    this.outbox.applyVerdict(isAllowed);
    if (!isAllowed) this.end(rightsLost);
  }

  /**
   * Ends the watch: nothing is delivered from now on. Closing takes longer, and thousands may end at once, so each
   * waits for a turn.
   */
  end(ending: Ending): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const rest = forgettingEndings.has(ending.reason) ? 'dropped' : 'sent';
    this.outbox.stop(rest, () => {
      this.#leave(ending, rest);
    });
  }

  /** Call it when the peer has disconnected. */
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

/** Endings that drop unsent frames: the watcher is too far behind, or may not see them any more. */
const forgettingEndings: ReadonlySet<Ending['reason']> = new Set(['too-slow', 'rights-lost']);
