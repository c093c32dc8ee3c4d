import type { Leadership } from '../src/read/leadership.ts';
import { delay, type Clock, type Timer } from '../src/base/clock.ts';
import { serviceController } from '../src/base/service-controller.ts';
import { eventSchema, type EventMetadata, type LeaseEvent } from '../src/command/event.ts';
import { actorOf, type Subject } from '../src/command/subject.ts';
import { leaseLookMs, leaseMs, leaseReleaseMs, leaseRenewMs } from '../src/limits/reconcilers.ts';
import { decodeEvent, encodeEvent } from '../src/log/event-codec.ts';
import {
  streamName,
  type EventLog,
  type ExpectedRevision,
  type RecordedEvent,
  type StreamRevision,
} from '../src/log/log.ts';

/** The leadership of a node, with an election that can be started and stopped. */
export type Elector = Leadership & {
  start(): void;
  /** Stops the election and gives up leadership. */
  stop(): Promise<void>;
};

/** The leadership of the only node of a log. */
export const alwaysLeading: Elector = {
  isLeader: () => true,
  subscribe: () => () => undefined,
  start: () => undefined,
  stop: () => Promise.resolve(),
};

export type LeaseDependencies = {
  readonly log: Pick<EventLog, 'append' | 'readLast'>;
  readonly clock: Clock;
  readonly uuid: () => string;
  /** A random name. After a restart, a node has another name. */
  readonly node: string;
  /** Called when an event of the lease stream is invalid. */
  readonly onError: (error: unknown) => void;
};

const stream = streamName('lease:reconcilers');
const subject: Subject = { kind: 'platform', part: 'lease' };

/**
 * The last event of the lease stream, and the time on this node's monotonic clock at which this node first read the
 * event.
 */
type Seen = {
  readonly last: RecordedEvent | undefined;
  readonly sinceMs: number;
};

/**
 * The leader lease (docs/spec/consistency.md, 6). A candidate acquires the lease after its release, or if the lease has
 * not changed for a whole lease time on the candidate's clock. The holder stops leading one lease time after sending
 * the last acknowledged renewal.
 *
 * Two nodes can be the leader at once if their clocks run at different speeds, for example after a suspension. So all
 * work of a leader must be harmless if a deposed leader performs it.
 */
export class LeaseElector implements Elector {
  readonly #dependencies: LeaseDependencies;
  readonly #listeners = new Set<(leads: boolean) => void>();
  readonly #stopping = serviceController();
  /** Aborts at the end of `stop`, which ends the retries of appends. */
  readonly #given = serviceController();
  /** This node is the leader until this time on the monotonic clock. */
  #untilMs = -Infinity;
  /** The state of leadership that the listeners received last. */
  #reported = false;
  #expiry: Timer | undefined;
  #running: Promise<void> | undefined;

  constructor(dependencies: LeaseDependencies) {
    this.#dependencies = dependencies;
  }

  isLeader(): boolean {
    return this.#dependencies.clock.monotonic() < this.#untilMs;
  }

  subscribe(listener: (leads: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  start(): void {
    this.#running ??= this.#run().catch((error: unknown) => {
      this.#leadUntil(-Infinity);
      this.#dependencies.onError(error);
    });
  }

  /**
   * Releases the lease if this node holds it, so that another node can become the leader immediately. Waits up to
   * `leaseReleaseMs` for an unavailable log.
   */
  async stop(): Promise<void> {
    this.#leadUntil(-Infinity);
    this.#stopping.abort();
    if (this.#running === undefined) return;
    const overdue = delay(this.#dependencies.clock, leaseReleaseMs, this.#given.signal);
    await Promise.race([this.#running, overdue]);
    this.#given.abort();
  }

  async #run(): Promise<void> {
    while (!this.#isStopping()) {
      const held = await this.#acquireLease();
      if (held !== undefined) await this.#renewLease(held);
    }
  }

  /**
   * Waits until the lease is free, then acquires the lease. Returns the revision of the append; undefined if the node
   * stops first.
   */
  async #acquireLease(): Promise<StreamRevision | undefined> {
    const { clock } = this.#dependencies;
    let seen: Seen | undefined;
    while (!this.#isStopping()) {
      const last = await this.#readLease();
      // The time is read after the lease, since another node may have renewed the lease during the read.
      const now = clock.monotonic();
      if (last !== 'unreadable') {
        if (seen === undefined || seen.last?.id !== last?.id) seen = { last, sinceMs: now };
        const lease = isFree(seen, now) ? await this.#appendHeld(last?.revision ?? 'absent') : undefined;
        if (lease !== undefined) return lease;
      }
      await delay(clock, leaseLookMs, this.#stopping.signal);
    }
    return undefined;
  }

  /** Renews the lease until the lease is lost. Releases the lease when this node stops. */
  async #renewLease(acquired: StreamRevision): Promise<void> {
    const { clock, node } = this.#dependencies;
    let held: StreamRevision | undefined = acquired;
    while (held !== undefined && !this.#isStopping()) {
      const sentMs = this.#untilMs - leaseMs;
      await delay(clock, Math.max(0, sentMs + leaseRenewMs - clock.monotonic()), this.#stopping.signal);
      if (!this.#isStopping()) held = await this.#appendHeld(held);
    }
    if (held !== undefined) await this.#append({ type: 'LeaseReleased', holder: node }, held);
  }

  /**
   * Appends an event that acquires or renews the lease. The lease lasts one lease time after the append was sent.
   * Returns the revision of the event; undefined if another node has appended first, or if `stop` ended the retries.
   */
  async #appendHeld(expected: ExpectedRevision): Promise<StreamRevision | undefined> {
    const sentMs = this.#dependencies.clock.monotonic();
    const revision = await this.#append({ type: 'LeaseHeld', holder: this.#dependencies.node, leaseMs }, expected);
    this.#leadUntil(revision === undefined || this.#isStopping() ? -Infinity : sentMs + leaseMs);
    return revision;
  }

  /**
   * Appends the event. Retries at the same revision until the outcome is known. Returns the revision; undefined if
   * another event has this revision, or if `stop` ended the retries.
   */
  async #append(event: LeaseEvent, expected: ExpectedRevision): Promise<StreamRevision | undefined> {
    const { log, clock, uuid } = this.#dependencies;
    const proposed = encodeEvent(uuid(), event, this.#metadata());
    while (!this.#given.signal.aborted) {
      const outcome = await log.append(stream, [proposed], expected);
      if (outcome.ok) return outcome.revision;
      if (outcome.reason === 'conflict') return undefined;
      await delay(clock, leaseLookMs, this.#given.signal);
    }
    return undefined;
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #readLease(): Promise<RecordedEvent | undefined | 'unreadable'> {
    try {
      return await this.#dependencies.log.readLast(stream);
    } catch {
      return 'unreadable';
    }
  }

  #leadUntil(untilMs: number): void {
    const { clock } = this.#dependencies;
    // The lease may have expired without a notification. Listeners are notified of the expiry and of the renewal.
    this.#notify();
    this.#untilMs = untilMs;
    this.#expiry?.cancel();
    this.#notify();
    if (this.isLeader())
      this.#expiry = clock.after(untilMs - clock.monotonic(), () => {
        this.#notify();
      });
  }

  #notify(): void {
    const leads = this.isLeader();
    if (leads === this.#reported) return;
    this.#reported = leads;
    for (const listener of this.#listeners) listener(leads);
  }

  #metadata(): EventMetadata {
    const { clock, uuid } = this.#dependencies;
    const requestId = uuid();
    return {
      actor: actorOf(subject),
      verb: 'update',
      requestId,
      time: new Date(clock.now()).toISOString(),
      schema: eventSchema,
      $correlationId: requestId,
    };
  }
}

function isFree({ last, sinceMs }: Seen, now: number): boolean {
  if (last === undefined) return true;
  const { event } = decodeEvent(last);
  if (event.type === 'LeaseReleased') return true;
  if (event.type === 'LeaseHeld') return now - sinceMs >= event.leaseMs;
  throw new Error(
    `the lease stream ${last.stream} contains a ${event.type} event, which does not belong to this stream`,
  );
}
