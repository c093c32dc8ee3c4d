import { delay, type Clock } from '../../src/base/clock.ts';
import { serviceController } from '../../src/base/service-controller.ts';
import type { EventMetadata, NodeEvent } from '../../src/command/event.ts';
import { leaseReleaseMs, leaseRenewMs } from '../../src/limits/reconcilers.ts';
import type { NodeDescription } from '../../src/read/operation/nodes.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import {
  streamName,
  type EventLog,
  type ExpectedRevision,
  type LogPosition,
  type StreamName,
} from '../../src/log/log.ts';

export type HeartbeatDependencies = {
  readonly log: Pick<EventLog, 'append'>;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly metadata: () => EventMetadata;
  /** The random name of this node, new at each start. */
  readonly node: string;
  /** The highest level of a log that this node can read. */
  readonly reads: number;
  /** Returns the position up to which this node is drained (see `NodeEvent`). */
  readonly drained: () => LogPosition;
  /** Returns the description of this node for operators. */
  readonly describe: () => NodeDescription;
};

const prefix = 'lease:node/';

/** The name of the node in a heartbeat stream; undefined for another stream. */
export function nodeOf(stream: StreamName): string | undefined {
  return stream.startsWith(prefix) ? stream.slice(prefix.length) : undefined;
}

/**
 * Appends a heartbeat to this node's stream at the interval of lease renewals. A heartbeat states that the node runs,
 * can read logs up to the level `reads`, and is drained up to the position `drained`.
 */
export class Heartbeat {
  readonly #dependencies: HeartbeatDependencies;
  readonly #stream: StreamName;
  readonly #stopping = serviceController();
  #running: Promise<void> | undefined;
  #expected: ExpectedRevision = 'absent';

  constructor(dependencies: HeartbeatDependencies) {
    this.#dependencies = dependencies;
    this.#stream = streamName(`${prefix}${dependencies.node}`);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Ends the heartbeats, so that other nodes no longer wait for this node. Waits up to `leaseReleaseMs` for an
   * unavailable log.
   */
  async stop(): Promise<void> {
    const { clock } = this.#dependencies;
    this.#stopping.abort();
    if (this.#running === undefined) return;
    const given = serviceController();
    await Promise.race([this.#running, delay(clock, leaseReleaseMs, given.signal)]);
    given.abort();
  }

  async #run(): Promise<void> {
    const { clock, reads, drained, describe } = this.#dependencies;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const appended = await this.#appendEvent({
        type: 'NodeSeen',
        reads,
        beatMs: leaseRenewMs,
        drained: drained().toString(),
        ...describe(),
      });
      if (appended !== 'again') await delay(clock, leaseRenewMs, signal);
    }
    await this.#appendEvent({ type: 'NodeLeft' });
  }

  /**
   * Appends one event. Returns `again` if the stream has another revision, because an earlier append with unknown
   * outcome succeeded. Returns `lost` if the append failed or its outcome is unknown.
   */
  async #appendEvent(event: NodeEvent): Promise<'appended' | 'again' | 'lost'> {
    const { log, uuid, metadata } = this.#dependencies;
    const outcome = await log
      .append(this.#stream, [encodeEvent(uuid(), event, metadata())], this.#expected)
      .catch(() => undefined);
    if (outcome?.ok === true) {
      this.#expected = outcome.revision;
      return 'appended';
    }
    if (outcome?.reason !== 'conflict') return 'lost';
    this.#expected = outcome.actual;
    return 'again';
  }
}
