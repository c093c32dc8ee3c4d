import { Readable } from 'node:stream';

import type { FilteredRead, SubscriptionCall } from '../../../src/log/eventstore/eventstore-filtered-read.ts';
import {
  logPosition,
  logStart,
  type AppendOutcome,
  type ExpectedRevision,
  type LogPosition,
} from '../../../src/log/log.ts';
import { eventStorePrefixDefault as streamPrefix } from '../../../src/config/eventstore-prefix.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { Cluster } from '../cluster.ts';
import { DriverFeed } from './driver-feed.ts';
import {
  failed,
  messageOf,
  noStream,
  notLeader,
  notLeaderReply,
  proposedOf,
  resolvedOf,
  streamOfDriver,
  unavailable,
  unconnected,
  wrongVersion,
  type DriverEvent,
  type Stored,
} from './driver-answers.ts';
import type { Append, Passage, Surroundings } from '../passage.ts';
import { epoch } from '../world.ts';

type AppendOptions = { readonly expectedRevision: bigint | 'no_stream' };
type StreamOptions = {
  readonly fromRevision: bigint | 'end';
  readonly direction?: 'backwards';
  readonly maxCount: number;
};
type CommitPosition = { readonly commit: bigint };
type AllOptions = {
  readonly fromPosition?: CommitPosition | 'end';
  readonly direction?: 'backwards';
  readonly maxCount: number;
  readonly requiresLeader?: boolean;
};
type Sent = Append & { readonly expected: ExpectedRevision };

/** What of a server was read: events, or the error that is answered. */
type Look = (member: number) => readonly Stored[] | Error;

/**
 * One client of the EventStoreDB driver, as one life of one node has it: what the adapter asks of it, and how it fails.
 * A connection is to one member, which may lead no more; any error of the stream that carries the appends fails all of
 * them.
 */
export class SimDriver {
  readonly #world: Surroundings;
  readonly #passage: Passage;
  readonly #cluster: Cluster;
  #member: number;
  /** Appends that wait for their reply, and all other open calls: each gets its error. */
  readonly #appends = new Set<(error: Error) => void>();
  readonly #calls = new Set<(error: Error) => void>();
  #appended = false;

  constructor(world: Surroundings, passage: Passage) {
    this.#world = world;
    this.#passage = passage;
    this.#cluster = must(world.cluster, 'there is a cluster to connect to');
    this.#member = this.#cluster.lookUp();
  }

  async warmUp(): Promise<void> {
    await this.#passage.travel('the server reports its features');
    if (this.#passage.isDown) throw unconnected();
  }

  async appendToStream(
    streamId: string,
    sent: readonly DriverEvent[],
    { expectedRevision }: AppendOptions,
  ): Promise<unknown> {
    const stream = streamOfDriver(streamId);
    for (const { id, metadata } of sent) this.#cluster.sent.set(id, metadata);
    const events = sent.map((event) => proposedOf(streamId, event));
    const expected =
      expectedRevision === 'no_stream' ? ('absent' as const) : (Number(expectedRevision) as ExpectedRevision);
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.#appends.delete(fail);
        reject(error);
      };
      this.#appends.add(fail);
      const reply = (outcome: AppendOutcome | Error): void => {
        this.#passage.life.later(this.#passage.callMs(), 'an answer', () => {
          if (!this.#appends.delete(fail)) return;
          this.#noteReply(outcome);
          if (outcome instanceof Error) reject(outcome);
          else if (outcome.ok) resolve(replyOf(outcome, events.length));
          else reject(wrongVersion(outcome.reason === 'conflict' ? outcome.actual : 'absent'));
        });
      };
      if (this.#passage.isDown)
        this.#passage.life.later(this.#passage.callMs(), 'a connection fails', () => {
          this.break(this.#appended ? unavailable() : unconnected());
        });
      else this.#send({ stream, events, expected }, reply);
    });
  }

  #noteReply(outcome: AppendOutcome | Error): void {
    this.#appended = true;
    if (outcome instanceof Error) this.#reconnect();
    else this.#passage.note(outcome.ok ? 'append took place' : 'append in conflict');
  }

  #send(sent: Sent, reply: (outcome: AppendOutcome | Error) => void): void {
    const { random } = this.#world;
    const fate = this.#passage.fate(sent);
    // Some replies are never missed: then what waits for them is given up by the adapter itself.
    const lose = (): void => {
      if (random.chance(0.8))
        this.#passage.life.later(random.between(5, 400), 'a connection breaks', () => {
          this.break(unavailable());
        });
    };
    switch (fate) {
      case undefined:
        this.#land(sent, this.#passage.callMs(), reply);
        break;
      case 'lost':
        lose();
        break;
      case 'unacknowledged':
        this.#land(sent, this.#passage.callMs());
        lose();
        break;
      case 'late':
        this.#land(sent, random.between(300, 12_000));
        lose();
        if (sent.stream.startsWith('object:')) this.#passage.crashAfterLate();
        break;
      case 'duplicated':
        this.#land(sent, this.#passage.callMs(), reply);
        this.#land(sent, random.between(1, 4_000));
        break;
      case 'falselyConflicting': {
        const conflict = (): void => {
          reply({
            ok: false,
            reason: 'conflict',
            actual: this.#world.shared.stream(sent.stream).at(-1)?.revision ?? 'absent',
          });
        };
        if (random.chance(0.5)) this.#land(sent, this.#passage.callMs(), conflict);
        else this.#world.timeline.schedule(this.#passage.callMs(), 'a conflict is made up', conflict);
        break;
      }
    }
    this.#passage.maybeCrash('after sending an append');
  }

  #land(
    { stream, events, expected }: Sent,
    afterMs: number,
    then: (outcome: AppendOutcome | Error) => void = () => undefined,
  ): void {
    const { shared, timeline } = this.#world;
    const member = this.#member;
    shared.onTheirWay += 1;
    timeline.schedule(afterMs, 'an append arrives', () => {
      shared.onTheirWay -= 1;
      const before = shared.events.length;
      const outcome = this.#cluster.append(member, stream, { events, expected });
      if (!this.#passage.life.alive && shared.events.length > before) this.#passage.note('landed after its node died');
      timeline.add(
        () =>
          `${this.#passage.link.node} append ${stream}@${String(expected)} ${events[0]?.type ?? ''} → ` +
          (typeof outcome === 'string'
            ? outcome
            : outcome.ok
              ? `r${String(outcome.revision)} p${outcome.position.toString()}`
              : outcome.reason),
      );
      if (outcome === 'not-leader') then(notLeaderReply());
      else if (outcome !== 'never') then(outcome);
    });
  }

  setStreamMetadata(streamId: string, { maxCount }: { readonly maxCount: number }): Promise<unknown> {
    const stream = streamOfDriver(streamId);
    return this.#passage.travel("a stream's metadata is set").then(() => {
      this.#cluster.keepLast(stream, maxCount);
    });
  }

  readStream(streamId: string, { fromRevision, direction, maxCount }: StreamOptions): Readable {
    const stream = streamOfDriver(streamId);
    return this.#read(`read ${stream}`, true, (member) => {
      const events = this.#cluster.stream(member, stream);
      if (events.length === 0) return noStream();
      const batch =
        direction === 'backwards'
          ? events
              .filter(({ revision }) => fromRevision === 'end' || BigInt(revision) <= fromRevision)
              .slice(-maxCount)
              .reverse()
          : events
              .filter(({ revision }) => fromRevision === 'end' || BigInt(revision) >= fromRevision)
              .slice(0, maxCount);
      return batch.map((event) => this.#stored(event));
    });
  }

  readAll({
    fromPosition = 'end',
    direction = 'forwards' as 'backwards',
    maxCount,
    requiresLeader = false,
  }: AllOptions): Readable {
    return this.#read('read all', requiresLeader, (member) => {
      if (fromPosition === 'end')
        return this.#cluster
          .all(member, { from: Infinity, direction, count: maxCount })
          .map((event) => this.#stored(event));
      const place = this.#placeOf(logPosition(fromPosition.commit + 1n));
      if (place === undefined) return failed();
      return this.#cluster.all(member, { from: place, direction, count: maxCount }).map((event) => this.#stored(event));
    });
  }

  /** Undefined for a position within the log at which no event starts. */
  #placeOf(position: LogPosition): number | undefined {
    const { shared } = this.#world;
    const place = shared.placesUpTo(position);
    if (shared.at(position) !== undefined) return place - 1;
    return position < shared.head ? undefined : place;
  }

  readFiltered({ from, prefixes, maxCount }: FilteredRead): Readable {
    return this.#read(
      'read all backwards',
      true,
      (member) => {
        const place = from === 'end' ? Infinity : this.#placeOf(logPosition(from + 1n));
        if (place === undefined) return failed();
        return this.#cluster
          .all(member, { from: place, direction: 'backwards', count: Infinity })
          .filter(({ stream }) => prefixes.some((prefix) => `${streamPrefix}${stream}`.startsWith(prefix)))
          .slice(0, maxCount)
          .map((event) => this.#stored(event));
      },
      messageOf,
    );
  }

  /** A question is answered as things were when it arrived, which may be long before the answer is there. */
  #read(what: string, requiresLeader: boolean, look: Look, shape: (stored: Stored) => unknown = resolvedOf): Readable {
    const stream = new Readable({ objectMode: true, read: () => undefined });
    const fail = (error: Error): void => {
      if (this.#calls.delete(fail)) stream.destroy(error);
    };
    this.#calls.add(fail);
    if (this.#passage.readFails()) {
      this.#passage.life.later(this.#passage.callMs(), `${what} fails`, () => {
        this.#passage.note('read failed');
        this.#reconnect();
        fail(unavailable());
      });
    } else {
      this.#world.timeline.schedule(this.#passage.callMs(), what, () => {
        if (!this.#passage.life.alive) return;
        const answer = requiresLeader && !this.#cluster.leads(this.#member) ? notLeader() : look(this.#member);
        if (answer instanceof Error && !requiresLeader) this.#reconnect();
        this.#passage.life.later(this.#passage.callMs(), 'an answer', () => {
          this.#answer(stream, fail, answer instanceof Error ? answer : answer.map((stored) => shape(stored)));
        });
      });
    }
    this.#passage.maybeCrash(`at ${what}`);
    return Object.assign(stream, { cancel: () => Promise.resolve(void this.#calls.delete(fail)) });
  }

  #answer(stream: Readable, fail: (error: Error) => void, answer: readonly unknown[] | Error): void {
    if (answer instanceof Error) {
      this.#reconnect();
      fail(answer);
      return;
    }
    if (!this.#calls.delete(fail)) return;
    for (const event of answer) stream.push(event);
    stream.push(null);
  }

  #stored(event: Stored['event']): Stored {
    const { shared } = this.#world;
    return {
      event,
      metadata: must(this.#cluster.sent.get(event.id), 'it was sent'),
      createdMs: epoch + Math.floor(shared.landedAt(event)),
    };
  }

  async subscribe(
    after: bigint | 'start',
    prefixes: readonly string[],
    attach: (call: SubscriptionCall, isSameServer: () => boolean) => void,
  ): Promise<void> {
    await Promise.resolve();
    const feed = new DriverFeed(this.#world, this.#passage, {
      cluster: this.#cluster,
      member: this.#member,
      after: after === 'start' ? logStart : logPosition(after + 1n),
      prefixes,
      stored: (event) => this.#stored(event),
    });
    const fail = (error: Error): void => {
      this.#calls.delete(fail);
      feed.end(error);
      this.#reconnect();
    };
    this.#calls.add(fail);
    feed.onEnd(() => {
      this.#calls.delete(fail);
    });
    const member = this.#member;
    attach(feed.call, () => this.#member === member);
    feed.begin();
  }

  /** The stream that carries the appends ends. */
  break(error: Error): void {
    for (const fail of [...this.#appends]) {
      this.#passage.note('rejected in flight');
      fail(error);
    }
    this.#reconnect();
  }

  /** Whatever is open ends. */
  breakAll(): void {
    this.break(unavailable());
    for (const fail of [...this.#calls]) fail(unavailable());
  }

  async cut(): Promise<void> {
    await Promise.resolve();
    this.breakAll();
  }

  async close(): Promise<void> {
    await this.cut();
  }

  /** The driver looks for the leader again. */
  #reconnect(): void {
    this.#member = this.#cluster.lookUp();
  }
}

function replyOf({ revision, position }: Extract<AppendOutcome, { readonly ok: true }>, events: number): unknown {
  const place = { commit: position - 1n, prepare: position - 1n };
  return { success: true, nextExpectedRevision: BigInt(revision), position: events === 1 ? place : undefined };
}
