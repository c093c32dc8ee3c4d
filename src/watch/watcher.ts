import { watchBookmarkMs, watchCatchUpStallMs, watchKeepAliveMs } from '../limits/watches.ts';
import type { LogPosition } from '../log/log.ts';
import { accountOf } from '../read/client.ts';
import { Frames } from './frames.ts';
import { bookmark, type FrameEncoding } from './frame.ts';
import type { Connection, Finish, Outbox, Outboxes } from './outbox.ts';
import type { Reviewed } from './reviews.ts';
import { watchedBy, type Ending, type Watched, type WatchPlan } from './watch-plan.ts';

/** How often each watcher is looked at: keep-alives and bookmarks come up to this much early, a timed end up to this much late. */
export const watcherBeatMs = 1_000;

/** A connection, as the hub sees it. No method waits or throws. */
export type Sink = Connection & {
  readonly encoding: FrameEncoding;
  /** Something that is no event, so that nobody between here and the peer takes the connection for dead. */
  keepAlive(now: number, cursor: LogPosition | undefined): Uint8Array;
  /** Whether the peer has left a question unanswered for too long. */
  isUnresponsive(now: number): boolean;
  /** The frames that say why it ends, where an event can say it. */
  farewell(ending: Ending): Uint8Array | undefined;
  /** Closes, with the reason as far as its wire has a word for it. Everything written before has been taken. */
  end(ending: Ending): void;
};

/** Never a fourth thing. `catching-up` reads the log at its own pace; `live` is written to in the turn of the change. */
export type WatcherState = 'catching-up' | 'live' | 'closed';

export type WatcherOptions = {
  readonly now: number;
  readonly cursor: LogPosition | undefined;
  readonly outboxes: Outboxes;
  readonly onClosed: (watcher: Watcher) => void;
};

const rightsLost: Ending = { reason: 'rights-lost', detail: 'this watch is no longer allowed' };
const crowdedOut: Ending = {
  reason: 'too-slow', detail: 'the unread data of all watches exceeds its limit; resume from the last resourceVersion',
};

/**
 * One watcher's life:
 *
 *   catching-up ── join ──▶ live
 *        └── end, gone ─────┴──────▶ closed
 *
 * Whoever falls too far behind is cut off and resumes from where it was: it never goes back to catching up here.
 */
export class Watcher implements Reviewed {
  readonly plan: WatchPlan;
  readonly sink: Sink;
  readonly watched: Watched;
  /** What was sent and not taken yet, and what waits to be sent. */
  readonly outbox: Outbox;
  readonly #unreadBytesMax: number;
  readonly #onClosed: (watcher: Watcher) => void;
  #state: WatcherState = 'catching-up';
  /** Everything selected up to here was written; undefined while an initial state is incomplete. Live, the hub's position stands for it. */
  #cursor: LogPosition | undefined;
  /** When anything was last written. */
  #wroteAt: number;
  #bookmarkedAt: number;
  /** Since when a catch-up waits for the peer to read; undefined when it does not wait. */
  #stalledAt: number | undefined;
  readonly #endsAt: number;
  /** Whether the hub has let go of it. */
  #isForgotten = false;

  constructor(plan: WatchPlan, sink: Sink, options: WatcherOptions) {
    this.plan = plan;
    this.sink = sink;
    this.watched = watchedBy(plan);
    this.outbox = options.outboxes.open(sink, { account: accountOf(plan.client), onOverflow: () => { this.end(crowdedOut); } });
    this.#unreadBytesMax = options.outboxes.watcherBytesMax;
    this.#onClosed = options.onClosed;
    this.#cursor = options.cursor;
    this.#wroteAt = options.now;
    this.#bookmarkedAt = options.now;
    this.#endsAt = options.now + (plan.timeoutMs ?? Infinity);
  }

  get state(): WatcherState {
    return this.#state;
  }

  get cursor(): LogPosition | undefined {
    return this.#cursor;
  }

  /** A part of the past, after which everything up to `cursor` has been written. The reader of the past waits for the peer. */
  replay(frames: readonly Frames[], cursor: LogPosition | undefined, now: number): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'live') throw new Error('a live watcher is not replayed to');
    this.#cursor = cursor;
    for (const some of frames) this.#send(some, now);
  }

  /** The catch-up begins to wait for the peer, or goes on. */
  stall(since: number | undefined): void {
    this.#stalledAt = since;
  }

  /** It has everything up to the hub's position, and gets the rest as it happens. False when it is closed. */
  join(): boolean {
    if (this.#state === 'closed') return false;
    if (this.#state === 'live') throw new Error('a watcher joins once');
    this.#state = 'live';
    return true;
  }

  /** The frames of one batch. Never waits: a watcher past its bound is cut off, and the others do not notice. */
  offer(frames: Frames, now: number): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'catching-up') throw new Error('a watcher that catches up reads for itself');
    const { unreadBytes } = this.outbox;
    if (unreadBytes > this.#unreadBytesMax) {
      this.end({ reason: 'too-slow', detail: `${String(unreadBytes)} bytes are unread; resume from the last resourceVersion` });
      return;
    }
    this.#send(frames, now);
  }

  /** What is due at `now`, at most one thing. `position`: the hub's. */
  beat(now: number, position: LogPosition): void {
    if (this.#state === 'closed') return;
    const cursor = this.#state === 'live' ? position : this.#cursor;
    const overdue = this.#overdue(now);
    if (overdue !== undefined) {
      if (overdue.reason === 'timed-out') this.#bookmark(cursor, now);
      this.end(overdue);
    } else if (this.plan.bookmarks && cursor !== undefined && now - this.#bookmarkedAt > watchBookmarkMs - watcherBeatMs) {
      this.#bookmark(cursor, now);
    } else if (now - this.#wroteAt > watchKeepAliveMs - watcherBeatMs) {
      const sign = this.sink.keepAlive(now, cursor);
      // What is not read yet keeps the connection busy by itself.
      if (this.outbox.unreadBytes === 0) this.outbox.push(new Frames(sign));
      this.#wroteAt = now;
    }
  }

  hold(): void {
    this.outbox.hold();
  }

  judge(isAllowed: boolean): void {
    // One that has ended meanwhile for another reason may hold what it had not sent.
    this.outbox.judge(isAllowed);
    if (!isAllowed) this.end(rightsLost);
  }

  /** Nothing is delivered from this moment on. The rest takes longer, and thousands may end at once: each has its turn. */
  end(ending: Ending): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const rest = forgettingEndings.has(ending.reason) ? 'dropped' : 'sent';
    this.outbox.stop(rest, () => { this.#leave(ending, rest); });
  }

  /** The peer left. */
  gone(): void {
    this.#state = 'closed';
    this.outbox.stop('dropped', () => {
      this.#forget();
      this.outbox.gone();
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
    const farewell = this.sink.farewell(ending);
    const last = farewell === undefined ? undefined : new Frames(farewell);
    this.outbox.finish({ rest, last, close: () => { this.sink.end(ending); } });
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
    this.sink.encoding.encode(bookmark(this.plan.type, cursor), parts);
    this.#send(new Frames(Buffer.concat(parts)), now);
  }
}

/** Ends after which nothing is sent that waits: the watcher is behind already, or may not see it any more. */
const forgettingEndings: ReadonlySet<Ending['reason']> = new Set(['too-slow', 'rights-lost']);
