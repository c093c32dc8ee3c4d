import { setImmediate as nextTurn } from 'node:timers/promises';

import { logReadAheadBytesMax, logReadAheadEventsMax } from '../../limits/log.ts';
import { categoryTest } from '../category-test.ts';
import type { Follower } from './lmdb-recent.ts';
import type { CategoryFilter, RecordedEvent } from '../log.ts';

/** The log as seen by readers. Positions are contiguous numbers. */
export type ReadSource = {
  /** The last durable position. */
  durable(): number;
  /** Returns the appended instance of a recent event; undefined if the event is not in memory. */
  recent(position: number): RecordedEvent | undefined;
  /** The followers of the log. Events that a follower has not read are kept in memory, within limits. */
  readonly followers: Set<Follower>;
  /** Reads durable records from disk, in order. */
  stored(first: number, last: number): Iterable<RecordedEvent>;
  /** Returns whether the log is open. Throws if the log has failed. */
  open(): boolean;
  /** Resolves when an event may have been appended, when `signal` aborts, or when the log closes or fails. */
  grown(signal: AbortSignal | undefined): Promise<void>;
};

export type ReadPlan = {
  readonly after: number;
  /** The last position to read; undefined for a read that follows the log. */
  readonly until: number | undefined;
  readonly categories: CategoryFilter;
  readonly signal: AbortSignal | undefined;
  readonly turn: (() => Promise<void>) | undefined;
};

/**
 * Reads events in one loop for catch-up and live reading. The only state is a position, so no event is lost or repeated
 * at the change from catch-up to live. A consumer that falls behind the events in memory reads from disk.
 */
export async function* read(
  source: ReadSource,
  plan: ReadPlan,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const follower: Follower = { next: plan.after + 1 };
  if (plan.until === undefined) source.followers.add(follower);
  try {
    yield* readFrom(source, plan, follower);
  } finally {
    source.followers.delete(follower);
  }
}

async function* readFrom(
  source: ReadSource,
  plan: ReadPlan,
  follower: Follower,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const wanted = categoryTest(plan.categories);
  const end = plan.until ?? Infinity;
  while (follower.next <= end && mayGoOn(source, plan)) {
    const last = Math.min(source.durable(), end);
    if (follower.next > last) {
      await source.grown(plan.signal);
      continue;
    }
    const live = source.recent(follower.next) !== undefined;
    const batch = takeBatch(
      live ? recentFrom(source, follower.next, last) : source.stored(follower.next, last),
      wanted,
    );
    follower.next += batch.consumed;
    if (batch.events.length > 0) yield batch.events;
    // A catch-up may take seconds, so other work must run between batches.
    if (plan.turn !== undefined) await plan.turn();
    else if (!live) await nextTurn();
  }
}

function mayGoOn(source: ReadSource, plan: ReadPlan): boolean {
  if (plan.signal?.aborted === true) return false;
  if (source.open()) return true;
  // A read up to `until` must not end early without an error. A subscription has no end and can stop anywhere.
  if (plan.until !== undefined) throw new Error('the log was closed during a read');
  return false;
}

function* recentFrom(source: ReadSource, first: number, last: number): Generator<RecordedEvent> {
  for (let position = first; position <= last; position += 1) {
    const stored = source.recent(position);
    if (stored === undefined) return;
    yield stored;
  }
}

type Batch = {
  readonly events: readonly RecordedEvent[];
  /** The number of consumed events, including events of other categories. */
  readonly consumed: number;
};

type BatchSize = {
  readonly wanted: number;
  readonly seen: number;
};

/**
 * Takes a batch of whole appends up to the limits, or one larger append. An append is split only at the end of the
 * range.
 */
function takeBatch(records: Iterable<RecordedEvent>, wanted: (stream: string) => boolean): Batch {
  const events: RecordedEvent[] = [];
  let seen = 0;
  let bytes = 0;
  let whole: BatchSize | undefined;
  for (const event of records) {
    if (whole !== undefined && seen >= logReadAheadEventsMax) {
      // The batch ends before this append, which exceeds the limit.
      events.length = whole.wanted;
      return { events, consumed: whole.seen };
    }
    seen += 1;
    bytes += event.data.length + event.metadata.length;
    if (wanted(event.stream)) events.push(event);
    if (!event.endsAppend) continue;
    if (seen >= logReadAheadEventsMax || bytes >= logReadAheadBytesMax) break;
    whole = { wanted: events.length, seen };
  }
  return { events, consumed: seen };
}
