import { setImmediate as nextTurn } from 'node:timers/promises';

import { logReadAheadBytesMax, logReadAheadEventsMax } from '../../limits/log.ts';
import type { Follower } from './lmdb-recent.ts';
import type { CategoryFilter, RecordedEvent } from '../log.ts';

/** What a reader needs of the log. Positions are numbers here and contiguous. */
export type ReadSource = {
  /** The last durable position. */
  durable(): number;
  /** A recently written event, the very instance that was appended. */
  recent(position: number): RecordedEvent | undefined;
  /** Those who follow the log: what they have yet to take is kept for them, within bounds. */
  readonly followers: Set<Follower>;
  /** Durable records from disk, in order. */
  stored(first: number, last: number): Iterable<RecordedEvent>;
  /** Whether reading may go on; throws when the log failed. */
  open(): boolean;
  /** Resolves when there may be something new: an event, an abort, the end of the log. */
  grown(signal: AbortSignal | undefined): Promise<void>;
};

export type ReadPlan = {
  readonly after: number;
  /** Read to here and end; undefined: follow the log. */
  readonly until: number | undefined;
  readonly categories: CategoryFilter;
  readonly signal: AbortSignal | undefined;
  readonly turn: (() => Promise<void>) | undefined;
};

/**
 * One loop for catch-up and live, with a position as its only state: so there is no seam at which an event could be lost
 * or repeated, and a consumer that falls behind what is kept in memory is simply back in catch-up.
 */
export async function* read(source: ReadSource, plan: ReadPlan): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const follower: Follower = { next: plan.after + 1 };
  if (plan.until === undefined) source.followers.add(follower);
  try {
    yield* readFrom(source, plan, follower);
  } finally {
    source.followers.delete(follower);
  }
}

async function* readFrom(source: ReadSource, plan: ReadPlan, follower: Follower): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const wanted = categoryTest(plan.categories);
  const end = plan.until ?? Infinity;
  while (follower.next <= end && mayGoOn(source, plan)) {
    const last = Math.min(source.durable(), end);
    if (follower.next > last) {
      await source.grown(plan.signal);
      continue;
    }
    const live = source.recent(follower.next) !== undefined;
    const batch = takeBatch(live ? recentFrom(source, follower.next, last) : source.stored(follower.next, last), wanted);
    follower.next += batch.taken;
    if (batch.events.length > 0) yield batch.events;
    // Catching up may take seconds of reading: others get their turn between batches. What is in memory is soon read.
    if (plan.turn !== undefined) await plan.turn();
    else if (!live) await nextTurn();
  }
}

function mayGoOn(source: ReadSource, plan: ReadPlan): boolean {
  if (plan.signal?.aborted === true) return false;
  if (source.open()) return true;
  // A read with an end must not look complete when it is not; a subscription has no end to miss.
  if (plan.until !== undefined) throw new Error('the log was closed while it was read');
  return false;
}

function* recentFrom(source: ReadSource, first: number, last: number): Generator<RecordedEvent> {
  for (let position = first; position <= last; position += 1) {
    const stored = source.recent(position);
    if (stored === undefined) return;
    yield stored;
  }
}

type Batch = { readonly events: readonly RecordedEvent[]; /** Events consumed, wanted or not. */ readonly taken: number };

/** Whole appends, up to the bounds; at least one append, however large. Only the end of what is to be read may cut one. */
function takeBatch(records: Iterable<RecordedEvent>, wanted: (stream: string) => boolean): Batch {
  const events: RecordedEvent[] = [];
  let seen = 0;
  let bytes = 0;
  let whole: { readonly wanted: number; readonly seen: number } | undefined;
  for (const event of records) {
    if (whole !== undefined && seen >= logReadAheadEventsMax) {
      // This append would pass the bound: it begins the next batch.
      events.length = whole.wanted;
      return { events, taken: whole.seen };
    }
    seen += 1;
    bytes += event.data.length + event.metadata.length;
    if (wanted(event.stream)) events.push(event);
    if (!event.endsAppend) continue;
    if (seen >= logReadAheadEventsMax || bytes >= logReadAheadBytesMax) break;
    whole = { wanted: events.length, seen };
  }
  return { events, taken: seen };
}

function categoryTest(categories: CategoryFilter): (stream: string) => boolean {
  if (categories === undefined) return () => true;
  const prefixes = categories.map((category) => `${category}:`);
  return (stream) => prefixes.some((prefix) => stream.startsWith(prefix));
}
