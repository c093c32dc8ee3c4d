import { isLeafStream } from '../../src/audit/proof/leaf-entry.ts';
import type { ProposedEvent, RecordedEvent, StreamName } from '../../src/log/log.ts';
import type { Cluster } from './cluster.ts';
import type { Coverage } from './coverage.ts';
import { appendFates, travelMs, type AppendFate, type Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { SharedLog } from './log/shared-log.ts';
import type { Life, Timeline } from './timeline.ts';

/** The connection of one node to the log, which outlives the node's crashes. */
export type Link = {
  readonly node: string;
  /** Until then the log cannot be reached. */
  downUntil: number;
  /** Until then the subscription delivers nothing. */
  stalledUntil: number;
};

export type Surroundings = {
  readonly timeline: Timeline;
  readonly shared: SharedLog;
  /** The servers that keep the log; undefined where nodes have the port alone. */
  readonly cluster: Cluster | undefined;
  readonly random: Random;
  readonly coverage: Coverage;
  readonly faults: () => Faults;
  /** Of this stream, appends that hold values are late. */
  readonly late: StreamName | undefined;
  /** A promise was broken: the run ends. */
  readonly fail: (error: unknown) => void;
};

export type Traveller = { readonly link: Link; readonly life: Life; readonly crash: (why: string) => void };

export type Append = { readonly stream: StreamName; readonly events: readonly ProposedEvent[] };

/** Among so many events that are delivered at one go, and so folded at one go. */
const gapEventsMax = 30;

/** What becomes of what one life of one node sends and is sent, as the run's faults say. */
export class Passage {
  readonly link: Link;
  readonly life: Life;
  readonly #world: Surroundings;
  readonly #crash: (why: string) => void;
  #hasGap = false;
  #hasAuditGap = false;

  constructor(world: Surroundings, { link, life, crash }: Traveller) {
    this.#world = world;
    this.link = link;
    this.life = life;
    this.#crash = crash;
  }

  get isDown(): boolean {
    return this.link.downUntil > this.#world.timeline.now;
  }

  /** Its subscription left out an event, which must stop the node. */
  get hasGap(): boolean {
    return this.#hasGap;
  }

  /** The subscription of the audit indexes left out an event, so no tree of this life may be signed. */
  get hasAuditGap(): boolean {
    return this.#hasGap || this.#hasAuditGap;
  }

  callMs(): number {
    return travelMs(this.#world.random, this.#world.faults().calls);
  }

  feedMs(): number {
    return travelMs(this.#world.random, this.#world.faults().feed);
  }

  async travel(what: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.life.later(this.callMs(), what, resolve);
    });
  }

  /** How long the subscription has to wait, in ms. */
  stallMs(): number {
    return Math.max(this.link.stalledUntil, this.link.downUntil) - this.#world.timeline.now;
  }

  fate({ stream, events }: Append): AppendFate | undefined {
    const { random, faults, late } = this.#world;
    const { appends, contended } = faults();
    const [event] = events;
    const holds =
      contended &&
      stream.startsWith('object:') &&
      event !== undefined &&
      Buffer.from(event.data.subarray(0, 16)).includes('[{');
    const fate =
      holds && random.chance(late === stream ? 0.8 : 0.25)
        ? 'late'
        : appendFates.find((kind) => random.chance(appends[kind]));
    if (fate !== undefined) this.note(`append ${fate}`);
    if (events.length > 1) this.note(`append of two ${fate ?? 'as it should'}`);
    return fate;
  }

  /** Whether this read fails. */
  readFails(): boolean {
    return this.isDown || this.#world.random.chance(this.#world.faults().readFails);
  }

  maybeCrash(where: string): void {
    const { random, faults } = this.#world;
    if (random.chance(faults().crashAtCall))
      this.life.later(random.below(10), 'crash at a call', () => {
        this.#crash(where);
      });
  }

  crashAfterLate(): void {
    const { random, faults } = this.#world;
    if (random.chance(faults().crashAfterLate))
      this.life.later(random.below(200), 'crash after a late append', () => {
        this.#crash('with an append on its way');
      });
  }

  /**
   * What a subscription delivers of `taken`: now and then it leaves out an append of an object that is followed by
   * another one of that object soon, and delivers the two at one go.
   */
  delivered(batch: readonly RecordedEvent[]): readonly RecordedEvent[] {
    const { random, faults } = this.#world;
    if (!random.chance(faults().gaps)) return batch;
    const near = batch.slice(0, gapEventsMax);
    const place = near.findIndex(
      ({ stream, endsAppend }, at) =>
        stream.startsWith('object:') &&
        endsAppend &&
        near[at - 1]?.endsAppend !== false &&
        near.slice(at + 1).some((later) => later.stream === stream && later.endsAppend),
    );
    if (place === -1) return batch;
    this.#hasGap = true;
    this.note('gap in a subscription');
    return batch.filter((_event, at) => at !== place);
  }

  /** What the subscription of the audit indexes delivers of `taken`: now and then it leaves out a leaf's append. */
  deliveredToAudit(taken: readonly RecordedEvent[]): readonly RecordedEvent[] {
    const { random, faults } = this.#world;
    const batch = this.delivered(taken);
    if (!random.chance(faults().auditGaps)) return batch;
    const places = batch.flatMap(({ stream, endsAppend }, at) =>
      isLeafStream(stream) && endsAppend && batch[at - 1]?.endsAppend !== false ? [at] : [],
    );
    if (places.length === 0) return batch;
    const place = random.pick(places);
    this.#hasAuditGap = true;
    this.note('gap in the subscription of the audit indexes');
    return batch.filter((_event, at) => at !== place);
  }

  note(what: string): void {
    this.#world.coverage.note(what);
  }
}
