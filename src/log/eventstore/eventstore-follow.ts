import { delay } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { categoryTest } from '../category-test.ts';
import type { LogDriver } from './eventstore-client.ts';
import { LogUnavailableError, retryDelayMs } from './eventstore-contact.ts';
import type { Contact } from './eventstore-contact.ts';
import { faultOf } from './eventstore-errors.ts';
import type { Follower, OwnEvents } from './eventstore-own.ts';
import type { Reads } from './eventstore-reads.ts';
import { storedRecord } from './eventstore-record.ts';
import type { ServerTime } from './eventstore-time.ts';
import { Batches, LiveSubscription } from './eventstore-subscription.ts';
import { LogRefusedError, LogReplacedError, UnknownPositionError, logStart } from '../log.ts';
import type { CategoryFilter, LogPosition, RecordedEvent, StreamName } from '../log.ts';

export type FollowContext = {
  /** The prefix of this log's streams in EventStoreDB. */
  readonly prefix: string;
  readonly client: () => LogDriver;
  readonly reads: Reads;
  readonly own: OwnEvents;
  readonly time: ServerTime;
  readonly contact: Contact;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly onResubscribed: () => void;
};

export type FollowPlan = {
  readonly after: LogPosition;
  /** The last position to read; undefined for a read that follows the log. */
  readonly until: LogPosition | undefined;
  /** A stream that is read in addition to the categories. An event of the stream at or after `until` ends the read. */
  readonly endsIn?: StreamName;
  readonly categories: CategoryFilter;
  readonly signal: AbortSignal | undefined;
};

/** Reads events by consecutive subscriptions. Each subscription starts where the previous subscription ended. */
export async function* follow(
  context: FollowContext,
  plan: FollowPlan,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  if (plan.signal?.aborted === true) return;
  const reader = new Reader(context, plan);
  if (plan.until === undefined) context.own.follow(reader.follower);
  try {
    while (reader.mayGoOn()) yield* reader.read();
  } finally {
    context.own.leave(reader.follower);
  }
}

class Reader {
  readonly follower: Follower;
  readonly #context: FollowContext;
  readonly #plan: FollowPlan;
  readonly #batches: Batches;
  #began = false;
  /** Consecutive failures since the last event. */
  #failures = 0;
  #done = false;

  constructor(context: FollowContext, plan: FollowPlan) {
    this.#context = context;
    this.#plan = plan;
    const wanted = categoryTest(plan.categories);
    this.#batches = new Batches(plan.after, wanted);
    this.follower = { seen: plan.after, wants: wanted };
  }

  mayGoOn(): boolean {
    if (this.#done || this.#plan.signal?.aborted === true) return false;
    if (!this.#context.closing.aborted) return true;
    // A read up to `until` must not end early without an error. A subscription has no end and can stop anywhere.
    if (this.#plan.until !== undefined) throw new Error('the log was closed during a read');
    return false;
  }

  /** Reads one subscription to its end. Throws errors that a retry cannot resolve. */
  async *read(): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const start = await this.#unlessOver(() => settled(this.#verify()));
    if (start === undefined || !this.mayGoOn()) return;
    if (start instanceof Error && !(start instanceof LogUnavailableError)) throw start;
    const failure = start instanceof Error ? start : yield* this.#subscribe(start);
    if (this.mayGoOn()) await this.#pause(failure);
  }

  /**
   * Verifies that the last read event still exists, because the log may have been replaced. Ignores events of leases,
   * which the server may delete. Returns the start of the next subscription.
   */
  async #verify(): Promise<LogPosition> {
    const { reads } = this.#context;
    const { anchor, seen } = this.#batches;
    if (anchor !== undefined) {
      const standing = await reads.at(anchor.position).catch((error: unknown) => {
        if (error instanceof UnknownPositionError) return 'end' as const;
        throw error;
      });
      if (typeof standing === 'string' || standing.id !== anchor.id) {
        throw new LogReplacedError(`event ${anchor.id} is no longer at position ${anchor.position.toString()}`);
      }
      if (anchor.position === seen) return seen;
    }
    return seen === logStart ? logStart : this.#startAt(seen);
  }

  /**
   * Returns the start of the next subscription: `seen`, or the position of an earlier event if no event is at `seen`.
   * EventStoreDB before 24.2 skips the next event if a subscription starts at the position of a deleted event.
   *
   * @throws UnknownPositionError if the log ends before the start of the first subscription.
   */
  async #startAt(seen: LogPosition): Promise<LogPosition> {
    const { reads } = this.#context;
    const standing = await reads.at(seen);
    if (standing === 'end' && !this.#began) throw new UnknownPositionError(seen);
    if (typeof standing === 'string') return reads.before(seen);
    this.#batches.begin(standing);
    return seen;
  }

  /**
   * Reads one subscription, and returns the error that ended the subscription. Returns undefined if the read is over,
   * or if the next subscription should start immediately.
   */
  async *#subscribe(start: LogPosition): AsyncGenerator<readonly RecordedEvent[], Error | undefined, undefined> {
    const { client, contact, closing } = this.#context;
    if (this.#began) this.#context.onResubscribed();
    this.#began = true;
    this.#batches.restart();
    const subscription = new LiveSubscription(
      client(),
      { after: start, prefixes: prefixesOf(this.#context.prefix, this.#plan) },
      () => {
        contact.worked();
      },
    );
    const stir = (): void => {
      subscription.stir();
    };
    this.#plan.signal?.addEventListener('abort', stir);
    closing.addEventListener('abort', stir);
    try {
      const held = start === logStart || (await this.#isHeld(start, subscription));
      if (held !== true) return held instanceof Error ? held : undefined;
      while (this.mayGoOn()) {
        yield* this.#drain(subscription);
        if (this.#done) return undefined;
        if (subscription.ended !== undefined) return subscription.ended;
        await subscription.stirred();
      }
      return undefined;
    } finally {
      this.#plan.signal?.removeEventListener('abort', stir);
      closing.removeEventListener('abort', stir);
      subscription.close();
    }
  }

  /**
   * Waits until the server has confirmed the subscription. Then returns whether the event at the start position exists
   * on the server of the subscription. Returns an error if a retry may succeed, and throws other errors.
   */
  async #isHeld(start: LogPosition, subscription: LiveSubscription): Promise<boolean | Error> {
    while (!subscription.confirmed && subscription.ended === undefined && this.mayGoOn()) await subscription.stirred();
    if (subscription.ended !== undefined) return subscription.ended;
    const held = await this.#unlessOver(() => settled(this.#context.reads.isHeld(start)));
    if (held === undefined || held instanceof UnknownPositionError) return false;
    if (held instanceof LogUnavailableError) return held;
    if (held instanceof Error) throw held;
    return held && subscription.isSameServer;
  }

  /** Yields the received events that were not taken yet. */
  *#drain(subscription: LiveSubscription): Generator<readonly RecordedEvent[], void, undefined> {
    const end = this.#plan.until;
    for (let raw = subscription.take(); raw !== undefined; raw = subscription.take()) {
      this.#failures = 0;
      const record = storedRecord(this.#context.prefix, raw);
      if (record === undefined) continue;
      const { position, id } = record.event;
      this.#reportTime(id, raw.createdMs);
      const full =
        end !== undefined && position > end
          ? undefined
          : this.#batches.add({ ...record, event: this.#context.own.own(record.event) });
      if (full !== undefined) yield* this.#hand(full);
      if (end !== undefined && position >= end) {
        this.#done = true;
        yield* this.#hand(this.#batches.cut());
        return;
      }
      if (full !== undefined && !this.mayGoOn()) return;
    }
    yield* this.#hand(this.#batches.flush());
  }

  #reportTime(id: string, createdMs: number): void {
    const { own, time } = this.#context;
    const sentMs = own.sentMs(id);
    if (sentMs === undefined) time.seen(createdMs);
    else time.own(createdMs, sentMs);
  }

  *#hand(batch: readonly RecordedEvent[]): Generator<readonly RecordedEvent[], void, undefined> {
    this.follower.seen = this.#batches.seen;
    this.#context.own.trim();
    if (batch.length > 0) yield batch;
  }

  async #pause(failure: Error | undefined): Promise<void> {
    if (failure === undefined) return;
    const { contact, clock } = this.#context;
    const fault = faultOf(failure);
    this.#failures += 1;
    // A single failure may be harmless, for example during a restart of the server, and is not reported. A refusal of
    // access is reported at once.
    const saysMore =
      fault.kind === 'refused' || (this.#failures > 1 && fault.kind !== 'dropped' && fault.kind !== 'not-leader');
    if (!(failure instanceof LogUnavailableError) && saysMore) {
      const error = await contact.failed(fault, failure);
      if (error instanceof LogRefusedError) throw error;
    }
    await this.#unlessOver((stop) => delay(clock, retryDelayMs(this.#failures), stop));
  }

  /** Resolves to undefined when the reader's signal aborts or the log closes. */
  async #unlessOver<T>(waitFor: (stop: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const { signal } = this.#plan;
    const over = new AbortController();
    const stop = (): void => {
      over.abort();
    };
    const sources = signal === undefined ? [this.#context.closing] : [this.#context.closing, signal];
    const stopped = new Promise<undefined>((resolve) => {
      over.signal.addEventListener('abort', () => {
        resolve(undefined);
      });
    });
    for (const source of sources) source.addEventListener('abort', stop);
    try {
      if (sources.some((source) => source.aborted)) return undefined;
      return await Promise.race([waitFor(over.signal), stopped]);
    } finally {
      for (const source of sources) source.removeEventListener('abort', stop);
    }
  }
}

/** Converts a rejection to a value. */
function settled<T>(question: Promise<T>): Promise<T | Error> {
  return question.catch((error: unknown) =>
    error instanceof Error ? error : new Error('a read of the log failed', { cause: error }),
  );
}

/** Returns the prefixes of the streams that the server sends. */
function prefixesOf(prefix: string, { categories, endsIn }: FollowPlan): readonly string[] {
  if (categories === undefined) return [prefix];
  return [...categories.map((category) => `${prefix}${category}:`), ...(endsIn === undefined ? [] : [prefix + endsIn])];
}
