import type {
  AppendOutcome,
  ExpectedRevision,
  LogPosition,
  ProposedEvent,
  RecordedEvent,
  StreamName,
} from '../../src/log/log.ts';
import type { Coverage } from './coverage.ts';
import { staleMsMax, type Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { SharedLog } from './log/shared-log.ts';
import type { Timeline } from './timeline.ts';

type Surroundings = {
  readonly timeline: Timeline;
  readonly shared: SharedLog;
  readonly random: Random;
  readonly coverage: Coverage;
};

/** `leads`: it believes so. `has`: how many events it has, where it lacks some. */
type Member = { leads: boolean; has: number | undefined };

/** For how long a leader that was deposed may go on believing that it leads, in ms. */
export const deposedMsMax = 2_500;

/**
 * The servers of one EventStoreDB, over the events that a majority of them has. A leader cut off from the others
 * answers reads with its old state for a while, and accepts appends that never succeed.
 */
export class Cluster {
  readonly #world: Surroundings;
  readonly #members: readonly Member[] = [
    { leads: true, has: undefined },
    { leads: false, has: undefined },
    { leads: false, has: undefined },
  ];
  /** Nobody for a moment. */
  #leader: number | undefined = 0;
  /** Places of events that a scavenge has removed. */
  readonly #removed = new Set<number>();
  /** Streams of which only so many events count. */
  readonly #maxCounts = new Map<StreamName, number>();
  /** Metadata as the adapter sent it, which marks where in its append an event stands; by the event's id. */
  readonly sent = new Map<string, Uint8Array>();
  /** Listeners for the deposition of a member. */
  readonly #deposed = new Set<(member: number) => void>();

  constructor(world: Surroundings) {
    this.#world = world;
  }

  /** A member to which a search for the leader may be directed. */
  lookUp(): number {
    const { random } = this.#world;
    const leading = this.#members.flatMap(({ leads }, index) => (leads ? [index] : []));
    return leading.length > 0 ? random.pick(leading) : random.below(this.#members.length);
  }

  leads(member: number): boolean {
    return this.#members[member]?.leads === true;
  }

  onDeposed(listener: (member: number) => void): void {
    this.#deposed.add(listener);
  }

  /** The leader is cut off from the others, which elect another one. */
  elect(): void {
    const { random, timeline, shared, coverage } = this.#world;
    const old = this.#leader;
    const deposed = old === undefined ? undefined : this.#members[old];
    if (old === undefined || deposed === undefined || this.#members.some(({ has }) => has !== undefined)) return;
    coverage.note('a leader is deposed');
    this.#leader = undefined;
    deposed.has = shared.events.length;
    timeline.schedule(random.between(0, deposedMsMax), 'a leader learns that it leads no more', () => {
      deposed.leads = false;
      deposed.has = undefined;
      for (const listener of [...this.#deposed]) listener(old);
    });
    timeline.schedule(random.between(0, 1_500), 'a leader is elected', () => {
      const others = this.#members.flatMap((_member, index) => (index === old ? [] : [index]));
      const elected = random.pick(others);
      this.#leader = elected;
      Object.assign(this.#members[elected]!, { leads: true });
    });
  }

  keepLast(stream: StreamName, maxCount: number): void {
    this.#maxCounts.set(stream, maxCount);
  }

  /**
   * Removes what no longer counts for good. `least`: as if more had come since, a run being short: so many of each such
   * stream stay.
   */
  scavenge(least: number): void {
    for (const [stream, maxCount] of this.#maxCounts) {
      const events = this.#world.shared.stream(stream);
      for (const event of events.slice(0, -Math.min(least, maxCount)))
        this.#removed.add(this.#world.shared.placeOf(event));
    }
  }

  isRemoved(place: number): boolean {
    return this.#removed.has(place);
  }

  /** How many events this member has. */
  has(member: number): number {
    const { shared, coverage } = this.#world;
    const has = this.#members[member]?.has;
    if (has === undefined || has === shared.events.length) return shared.events.length;
    coverage.note('a deposed leader answers as it was');
    return has;
  }

  stream(member: number, stream: StreamName): readonly RecordedEvent[] {
    const { shared } = this.#world;
    const has = this.has(member);
    const events = shared.stream(stream);
    if (has === shared.events.length && !this.#maxCounts.has(stream)) return events;
    const counted = events.filter((event) => shared.placeOf(event) < has);
    return counted
      .slice(-(this.#maxCounts.get(stream) ?? Infinity))
      .filter((event) => !this.isRemoved(shared.placeOf(event)));
  }

  /** Events from a position on, or before it, `count` at most; without removed ones. */
  all(
    member: number,
    {
      from,
      direction,
      count,
    }: { readonly from: number; readonly direction: 'forwards' | 'backwards'; readonly count: number },
  ): readonly RecordedEvent[] {
    const { events } = this.#world.shared;
    const has = this.has(member);
    const read: RecordedEvent[] = [];
    const step = direction === 'forwards' ? 1 : -1;
    for (
      let index = direction === 'forwards' ? from : Math.min(from, has) - 1;
      index >= 0 && index < has && read.length < count;
      index += step
    ) {
      if (!this.isRemoved(index)) read.push(events[index]!);
    }
    return read;
  }

  /**
   * Where a subscription that begins behind `after` begins, and which event it leaves out: where nothing stands any
   * more at its beginning, the server skips the next one.
   */
  begin(
    after: LogPosition,
    isWanted: (event: RecordedEvent) => boolean,
  ): { readonly next: number; readonly skipped: RecordedEvent | undefined } {
    const { shared, random, coverage } = this.#world;
    const next = shared.placesUpTo(after);
    if (next === 0 || !this.isRemoved(next - 1)) return { next, skipped: undefined };
    coverage.note('subscribed from a scavenged position');
    const skipsAny = random.chance(0.5);
    const skipped = shared.events
      .slice(next)
      .find((event) => !this.isRemoved(shared.placeOf(event)) && (skipsAny || isWanted(event)));
    return { next, skipped };
  }

  /** 'never': it fails without an answer. */
  append(
    member: number,
    stream: StreamName,
    { events, expected }: { readonly events: readonly ProposedEvent[]; readonly expected: ExpectedRevision },
  ): AppendOutcome | 'never' | 'not-leader' {
    if (member === this.#leader) return this.#world.shared.append(stream, events, expected);
    if (!this.leads(member)) return 'not-leader';
    this.#world.coverage.note('a deposed leader takes an append');
    const actual = this.stream(member, stream).at(-1)?.revision ?? 'absent';
    return actual === expected ? 'never' : { ok: false, reason: 'conflict', actual };
  }
}

/** How old what a read answers may be: the server may have been deposed. */
export function stalenessOf(
  { staleObjectReads, incidents: { election } }: Faults,
  cluster: Cluster | undefined,
): number {
  if (cluster !== undefined) return election > 0 ? deposedMsMax : 0;
  return staleObjectReads > 0 ? staleMsMax : 0;
}
