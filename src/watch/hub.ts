import { delay, type Clock } from '../base/clock.ts';
import { EventLoopTurns } from '../base/event-loop-turns.ts';
import { watchCatchUpsMax, watchCatchUpTurnMs, watchLogRetryMs, watchersMax } from '../limits/watches.ts';
import type { EventLog, LogPosition } from '../log/log.ts';
import { accountOf } from '../read/client.ts';
import { SnapshotsExhaustedError, type ChangeBatch, type ChangeFeed } from '../read/objects.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';
import { Audiences } from './audience.ts';
import { awaitStart, Replay, type CatchUpSource, type WatchReader } from './catch-up.ts';
import { loggedObjects, type LoggedSource } from './logged-events.ts';
import { LogSilentError } from './log-silent-error.ts';
import { Outboxes } from './outbox.ts';
import { RecentChanges, type RecentBounds } from './recent-changes.ts';
import { Reviews } from './reviews.ts';
import { SlotPool } from './slot-pool.ts';
import type { Ending, Watched, WatchPlan } from './watch-plan.ts';
import { Watcher, watcherBeatMs, type Sink } from './watcher.ts';
import { Wheel } from './wheel.ts';

const wheelSlots = 10;

export type WatchHubDependencies = {
  readonly feed: ChangeFeed;
  readonly reader: WatchReader;
  readonly log: EventLog;
  readonly clock: Clock;
  /** Reports the error that ends a watch. */
  readonly report: (error: unknown) => void;
  /** Reads the events that watchers have missed; by default, the events of objects. */
  readonly logged?: LoggedSource;
  /** The limits of the recent changes for joining watchers; `recentBounds` by default. */
  readonly recent?: RecentBounds;
  /** The queues of this node, if other streams share their limits; by default, separate queues. */
  readonly outboxes?: Outboxes;
};

/**
 * The watchers of one change feed on this node. Each live watcher receives a batch of changes in the turn of its
 * commit, and no watcher waits for another watcher. Watchers that are catching up read the log at their own speed until
 * they can join.
 */
export class WatchHub {
  /** The queues of unread data, for watches and for streams of plugins. */
  readonly outboxes: Outboxes;
  readonly #dependencies: WatchHubDependencies;
  readonly #source: CatchUpSource;
  readonly #audiences = new Audiences();
  readonly #recent: RecentChanges;
  /** All open watchers. */
  readonly #watchers: Wheel<Watcher>;
  readonly #catchUps = new SlotPool(watchCatchUpsMax);
  readonly #reviews: Reviews<Watcher>;
  /**
   * Spreads the joins of watchers over several turns. Encoding the missed changes of a watcher may take several
   * milliseconds, and thousands of watchers may join at the same time.
   */
  readonly #joins: EventLoopTurns;
  /** Aborts the reads of watchers that are catching up. */
  readonly #reading = new Map<Watcher, AbortController>();
  readonly #unsubscribe: () => void;
  /** The position of the last published batch. Each live watcher has received the changes up to this position. */
  #position: LogPosition;
  #closed = false;

  constructor(dependencies: WatchHubDependencies) {
    const { feed, reader, log, clock, logged = loggedObjects } = dependencies;
    this.#dependencies = dependencies;
    this.outboxes = dependencies.outboxes ?? new Outboxes(clock);
    this.#reviews = new Reviews(this.outboxes.slices);
    this.#position = reader.position();
    this.#recent = new RecentChanges(this.#position, dependencies.recent);
    this.#watchers = new Wheel(clock, { periodMs: watcherBeatMs, slots: wheelSlots }, (watcher, now) => {
      watcher.beat(now, this.#position);
      // While the log is unavailable, a catch-up makes no progress, but occupies a slot.
      if (!log.state().reachable) this.#reading.get(watcher)?.abort();
    });
    this.#joins = new EventLoopTurns(clock, watchCatchUpTurnMs);
    const turns = new EventLoopTurns(clock, watchCatchUpTurnMs);
    this.#source = {
      log,
      reader,
      logged,
      clock,
      position: () => this.#position,
      turn: () => turns.next(),
      isCrowded: () => this.#catchUps.isCrowded,
    };
    this.#unsubscribe = feed.subscribe((batch) => {
      this.#publish(batch);
    });
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Returns the reason why no watch can be opened now; undefined if a watch can be opened in this turn. */
  refusal(): 'too-many-watchers' | 'shutting-down' | undefined {
    if (this.#closed) return 'shutting-down';
    return this.#watchers.size >= watchersMax ? 'too-many-watchers' : undefined;
  }

  /** Opens a watch. The caller must call the watcher's `closed` when the connection closes. */
  open(plan: WatchPlan, sink: Sink): Watcher {
    const cursor = this.#startOf(plan);
    const now = this.#dependencies.clock.monotonic();
    const watcher = new Watcher(plan, sink, {
      now,
      cursor,
      outboxes: this.outboxes,
      onClosed: (closed) => {
        this.#forget(closed);
      },
    });
    this.#watchers.add(watcher);
    const turn = this.#joins.soon(accountOf(plan.client));
    if (turn !== undefined || !this.#join(watcher)) void this.#catchUp(watcher, turn);
    return watcher;
  }

  /** Ends all watches with a request to reconnect, and refuses new watches. Must be called on shutdown. */
  closeAll(): void {
    this.#closed = true;
    this.#unsubscribe();
    this.#endWhere(() => true, { reason: 'shutting-down', detail: 'the server is shutting down; connect again' });
  }

  /** Ends all watches of a type. Must be called when the type is no longer served or has a new declaration. */
  closeType(type: TypeKey): void {
    this.closeWhere((watched) => watched.type.key === type, `${type} is not served now`);
  }

  /** Ends the matching watches. Must be called when clients must open a new watch to continue. */
  closeWhere(matches: (watched: Watched) => boolean, detail: string): void {
    this.#endWhere(({ watched }) => matches(watched), { reason: 'type-removed', detail });
  }

  /**
   * Ends each watch that `allows` rejects. Must be called when rights may have changed. A watcher receives nothing
   * between this call and its check.
   */
  recheck(allows: (watched: Watched) => boolean): void {
    this.#reviews.begin(this.#watchers.items(), ({ watched }) => allows(watched));
  }

  #startOf({ start }: WatchPlan): LogPosition | undefined {
    switch (start.kind) {
      case 'state':
        return undefined;
      case 'after':
        return start.position;
      case 'now':
        return this.#position;
    }
  }

  #publish({ changes, position }: ChangeBatch): void {
    this.#position = position;
    // Without watchers no change is stored, because long-lived changes are expensive for the garbage collector.
    if (this.#watchers.size === 0) {
      this.#recent.clear(position);
      return;
    }
    if (changes.length === 0) return;
    this.#recent.push(changes);
    this.#audiences.publish(changes, this.#dependencies.clock.monotonic());
  }

  #join(watcher: Watcher): boolean {
    const { plan, sink, cursor } = watcher;
    if (cursor === undefined || cursor > this.#position) return false;
    const missed = this.#recent.after(cursor);
    if (missed === undefined) return false;
    const audience = this.#audiences.of(plan, sink.encoding);
    const concerning = missed.filter(
      ({ type, name }) => type === plan.type.key && (plan.name === undefined || name === plan.name),
    );
    watcher.replay(audience.framesOf(concerning, watcher), this.#position, this.#dependencies.clock.monotonic());
    if (watcher.join()) this.#audiences.enter(watcher, audience);
    return true;
  }

  /**
   * Lets the watcher catch up until the watcher joins or is closed. `turn` resolves in the first turn in which the
   * watcher may join; undefined if the watcher need not wait.
   */
  async #catchUp(watcher: Watcher, turn: Promise<void> | undefined): Promise<void> {
    let joining = turn;
    while (watcher.state === 'catching-up') {
      const reading = new AbortController();
      this.#reading.set(watcher, reading);
      try {
        await awaitStart(watcher, this.#source);
        await this.#replay(watcher, reading.signal, joining);
      } catch (error) {
        if (!(error instanceof LogSilentError)) this.#fail(watcher, error);
        else await delay(this.#dependencies.clock, watchLogRetryMs);
      } finally {
        this.#reading.delete(watcher);
        joining = undefined;
      }
    }
  }

  /**
   * Sends the initial state and the missed changes, until the watcher joins or is closed. While the peer does not read,
   * the watcher occupies no slot of `#catchUps`.
   */
  async #replay(watcher: Watcher, signal: AbortSignal, joining: Promise<void> | undefined): Promise<void> {
    const replay = new Replay(watcher, this.#source);
    const account = accountOf(watcher.plan.client);
    if (watcher.cursor === undefined) await replay.state(signal);
    for (let turn = joining ?? this.#joins.soon(account); ; turn = this.#joins.soon(account)) {
      if (turn !== undefined) await turn;
      if (watcher.state !== 'catching-up' || this.#join(watcher)) return;
      await this.#catchUps.run(account, () => replay.log(signal));
      await replay.drained();
    }
  }

  #fail(watcher: Watcher, error: unknown): void {
    // The end of the watch or of the log has caused this error, so it is not reported.
    if (watcher.state === 'closed') return;
    const overloaded = error instanceof SnapshotsExhaustedError;
    if (!overloaded) this.#dependencies.report(error);
    watcher.end(
      overloaded
        ? { reason: 'overloaded', detail: error.message }
        : { reason: 'failed', detail: 'the server could not read the log' },
    );
  }

  #forget(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    this.#reading.get(watcher)?.abort();
    this.#audiences.leave(watcher);
  }

  #endWhere(matches: (watcher: Watcher) => boolean, ending: Ending): void {
    for (const watcher of this.#watchers.items()) if (matches(watcher)) watcher.end(ending);
  }
}
