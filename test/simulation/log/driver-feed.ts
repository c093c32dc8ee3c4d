import { Readable } from 'node:stream';

import type { SubscriptionCall } from '../../../src/log/eventstore/eventstore-filtered-read.ts';
import { eventStorePrefixDefault as streamPrefix } from '../../../src/config/eventstore-prefix.ts';
import { logReadAheadEventsMax } from '../../../src/limits/log.ts';
import type { LogPosition, RecordedEvent } from '../../../src/log/log.ts';
import type { Cluster } from '../cluster.ts';
import { dropped, messageOf, notLeader, type Stored } from './driver-answers.ts';
import type { Passage, Surroundings } from '../passage.ts';

/** How often a member that lacks events is looked at again, in ms. */
const behindMs = 100;

type Wanted = {
  readonly cluster: Cluster;
  readonly member: number;
  readonly after: LogPosition;
  readonly prefixes: readonly string[];
  readonly stored: (event: RecordedEvent) => Stored;
};

/**
 * One subscription at one member: events as they come, in packets that end anywhere, some of them twice, until it is
 * dropped or the member leads no more.
 */
export class DriverFeed {
  readonly call: SubscriptionCall;
  readonly #stream = new Readable({ objectMode: true, read: () => undefined });
  readonly #world: Surroundings;
  readonly #passage: Passage;
  readonly #wanted: Wanted;
  readonly #onEnd = new Set<() => void>();
  #next = 0;
  #skipped: RecordedEvent | undefined;
  #ended = false;

  constructor(world: Surroundings, passage: Passage, wanted: Wanted) {
    this.#world = world;
    this.#passage = passage;
    this.#wanted = wanted;
    this.call = Object.assign(this.#stream, {
      cancel: () => {
        this.#finish();
      },
    });
  }

  onEnd(listener: () => void): void {
    this.#onEnd.add(listener);
  }

  begin(): void {
    const { cluster, member, after } = this.#wanted;
    cluster.onDeposed((deposed) => {
      if (deposed === member && this.#world.random.chance(0.7)) this.end(notLeader());
    });
    this.#passage.life.later(this.#passage.callMs(), 'a subscription', () => {
      if (this.#passage.isDown) {
        this.end(dropped());
        return;
      }
      const { next, skipped } = cluster.begin(after, (event) => this.#isWanted(event));
      this.#next = next;
      this.#skipped = skipped;
      this.#push('confirmed');
      this.#wait();
    });
  }

  end(error: Error): void {
    if (this.#ended) return;
    this.#passage.note('a subscription ends');
    this.#finish();
    this.#stream.destroy(error);
  }

  #finish(): void {
    this.#ended = true;
    for (const listener of this.#onEnd) listener();
  }

  #push(message: unknown): void {
    if (!this.#ended) this.#stream.push(message);
  }

  #wait(): void {
    const { shared } = this.#world;
    if (this.#ended) return;
    if (shared.events.length <= this.#next) {
      shared.onLanded(() => {
        this.#leave();
      });
    } else if (this.#wanted.cluster.has(this.#wanted.member) > this.#next) {
      this.#leave();
    } else {
      this.#passage.life.later(behindMs, 'a member catches up', () => {
        this.#wait();
      });
    }
  }

  #leave(): void {
    this.#passage.life.later(this.#passage.feedMs(), 'a delivery', () => {
      this.#arrive();
    });
  }

  #arrive(): void {
    if (this.#ended) return;
    const { random, faults } = this.#world;
    const stalled = this.#passage.stallMs();
    if (stalled > 0) {
      this.#passage.life.later(stalled + random.below(50), 'the subscription goes on', () => {
        this.#arrive();
      });
      return;
    }
    if (random.chance(faults().drops)) {
      this.#deliver(random.below(3));
      this.end(dropped());
      return;
    }
    this.#deliver(random.chance(0.5) ? random.between(1, 4) : logReadAheadEventsMax);
    this.#wait();
  }

  #deliver(most: number): void {
    const { cluster, member, stored } = this.#wanted;
    const { shared, random, faults } = this.#world;
    const before = this.#next;
    const again = random.chance(faults().drops) ? Math.max(0, before - random.between(1, 3)) : before;
    const end = Math.min(before + most, cluster.has(member));
    const batch = shared.events
      .slice(again, end)
      .filter((event, at) => event !== this.#skipped && !cluster.isRemoved(again + at) && this.#isWanted(event));
    this.#next = Math.max(before, end);
    const isNew = again === before;
    for (const event of this.#isFollowed && isNew ? this.#delivered(batch) : batch)
      this.#push(messageOf(stored(event)));
  }

  /** The audit indexes alone follow accesses. */
  #delivered(batch: readonly RecordedEvent[]): readonly RecordedEvent[] {
    const isAudit = this.#wanted.prefixes.some((prefix) => prefix.endsWith('access:'));
    return isAudit ? this.#passage.deliveredToAudit(batch) : this.#passage.delivered(batch);
  }

  /**
   * A read that ends also asks for the stream of its last event; what leaves out an event of one is found by nobody.
   */
  get #isFollowed(): boolean {
    return this.#wanted.prefixes.every((prefix) => prefix.endsWith(':'));
  }

  #isWanted({ stream }: RecordedEvent): boolean {
    return this.#wanted.prefixes.some((prefix) => (streamPrefix + stream).startsWith(prefix));
  }
}
