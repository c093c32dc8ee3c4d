import { delay, type Clock } from '../../src/base/clock.ts';
import { serviceController } from '../../src/base/service-controller.ts';
import type { DomainEvent } from '../../src/command/event.ts';
import { leaseMs, leaseRenewMs } from '../../src/limits/reconcilers.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { LogCorruptError, type EventLog, type RecordedEvent } from '../../src/log/log.ts';
import type { Leadership } from '../../src/read/leadership.ts';
import type { NodeDescription, NodeReader, NodeRecord } from '../../src/read/operation/nodes.ts';
import { nodeOf } from './heartbeat.ts';
import { lostNodeMs, nodeTextLengthMax, nodesKnownMax } from './platform-limits.ts';

export type NodeListDependencies = {
  readonly log: Pick<EventLog, 'subscribe' | 'head'>;
  readonly clock: Clock;
  /** The id of this node. */
  readonly node: string;
  /** Whether no other node can use the log. */
  readonly isAlone: boolean;
  /** The highest level of a log that this node can read. */
  readonly reads: number;
  readonly describe: () => NodeDescription;
  readonly leadership: Pick<Leadership, 'isLeader'>;
  readonly onError: (error: unknown) => void;
};

type Seen = { readonly about: Partial<NodeDescription>; readonly level: number; readonly atMs: number };

/**
 * The nodes of the platform, from their heartbeats and from the lease in the log. The list is complete one heartbeat
 * interval after the start. A node that stops gracefully is removed at once. A node that sends no more heartbeats is
 * removed after `lostNodeMs`. A single node sends no heartbeats.
 */
export class NodeList implements NodeReader {
  readonly #dependencies: NodeListDependencies;
  readonly #stopping = serviceController();
  /** The other nodes, in the order of their last heartbeats. */
  readonly #seen = new Map<string, Seen>();
  #lease: { readonly holder: string; readonly untilMs: number } | undefined;
  #running: Promise<void> | undefined;

  constructor(dependencies: NodeListDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    if (!this.#dependencies.isAlone) this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Returns this node and the other nodes, in the order of their starts. */
  all(): readonly NodeRecord[] {
    const { clock, node, reads, describe, leadership } = this.#dependencies;
    this.#dropLost();
    const now = clock.monotonic();
    const isLeader = leadership.isLeader();
    const own: NodeRecord = {
      id: node,
      ...describe(),
      lastSeen: new Date(clock.now()).toISOString(),
      isLive: true,
      isLeader,
      level: reads,
    };
    const others = [...this.#seen].map(([id, { about, level, atMs }]) => ({
      id,
      ...about,
      lastSeen: new Date(Math.round(clock.now() - (now - atMs))).toISOString(),
      isLive: now - atMs <= leaseMs,
      isLeader: !isLeader && this.#lease?.holder === id && now < this.#lease.untilMs,
      level,
    }));
    return [own, ...others].sort(
      (one, other) => compare(one.since ?? '', other.since ?? '') || compare(one.id, other.id),
    );
  }

  async #run(): Promise<void> {
    const { clock, onError } = this.#dependencies;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        // An unavailable log is reported by the log itself.
        if (error instanceof LogCorruptError) onError(error);
      }
      await delay(clock, leaseRenewMs, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { log } = this.#dependencies;
    const after = await log.head();
    for await (const batch of log.subscribe({ after, categories: ['lease'], signal }))
      for (const recorded of batch) this.#record(recorded);
  }

  #record(recorded: RecordedEvent): void {
    const { event } = decodeEvent(recorded);
    const nowMs = this.#dependencies.clock.monotonic();
    if (event.type === 'LeaseHeld') this.#lease = { holder: event.holder, untilMs: nowMs + event.leaseMs };
    else if (event.type === 'LeaseReleased') this.#lease = undefined;
    else this.#recordNode(nodeOf(recorded.stream), event, nowMs);
  }

  #recordNode(id: string | undefined, event: DomainEvent, atMs: number): void {
    if (id === undefined || id === this.#dependencies.node) return;
    this.#seen.delete(id);
    if (event.type !== 'NodeSeen') return;
    const [oldest] = this.#seen.keys();
    if (this.#seen.size >= nodesKnownMax && oldest !== undefined) this.#seen.delete(oldest);
    this.#seen.set(id, { about: descriptionIn(event), level: event.reads, atMs });
  }

  #dropLost(): void {
    const beforeMs = this.#dependencies.clock.monotonic() - lostNodeMs;
    for (const [id, { atMs }] of this.#seen) {
      if (atMs >= beforeMs) return;
      this.#seen.delete(id);
    }
  }
}

const described = ['host', 'version', 'since', 'position'] as const;

/** Returns the members that describe a node. A node of another version may write other values. */
function descriptionIn(event: Readonly<Record<string, unknown>>): Partial<NodeDescription> {
  const members = described.flatMap((member) => {
    const value = event[member];
    return typeof value === 'string' ? [[member, value.slice(0, nodeTextLengthMax)] as const] : [];
  });
  return Object.fromEntries(members);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
