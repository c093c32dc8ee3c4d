import { delay, type Clock } from '../../src/base/clock.ts';
import { leaseMs, leaseRenewMs } from '../../src/limits/reconcilers.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { logPosition, logStart, type EventLog, type LogPosition } from '../../src/log/log.ts';
import { nodeOf } from './heartbeat.ts';

export type LiveNodesDependencies = {
  readonly log: Pick<EventLog, 'subscribe' | 'head'>;
  readonly clock: Clock;
  /** The name of this node. */
  readonly node: string;
};

/** The last heartbeat of a live node. */
export type LiveNode = {
  /** The highest level that the node can read. */
  readonly reads: number;
  /**
   * The position up to which the node is drained. No pending append of the node was decided under a declaration that
   * was replaced at or before this position. Undefined if the node's version does not report the position.
   */
  readonly drained: LogPosition | undefined;
};

/**
 * The heartbeats of nodes, as this node receives them (docs/spec/consistency.md, 7). A node is live if its last
 * heartbeat arrived within one lease time. The set of live nodes is known after one lease time and one heartbeat
 * interval, while this node receives its own heartbeats.
 */
export class LiveNodes {
  readonly #dependencies: LiveNodesDependencies;
  readonly #seen = new Map<string, LiveNode & { readonly atMs: number }>();
  readonly #sinceMs: number;

  constructor(dependencies: LiveNodesDependencies) {
    this.#dependencies = dependencies;
    this.#sinceMs = dependencies.clock.monotonic();
  }

  /** Returns all live nodes; undefined while the set of live nodes is not known. */
  all(): readonly LiveNode[] | undefined {
    const { clock, node } = this.#dependencies;
    const now = clock.monotonic();
    const own = this.#seen.get(node);
    if (now - this.#sinceMs < leaseMs + leaseRenewMs || own === undefined || now - own.atMs > 2 * leaseRenewMs)
      return undefined;
    for (const [each, { atMs }] of this.#seen) if (now - atMs > leaseMs) this.#seen.delete(each);
    return [...this.#seen.values()];
  }

  /**
   * Records heartbeats until the signal aborts. Throws when the log cannot be read. The recorded heartbeats are then no
   * longer valid, because newer heartbeats may be missing.
   */
  async recordHeartbeats(signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#dependencies;
    const after = await log.head();
    for await (const batch of log.subscribe({ after, categories: ['lease'], signal })) {
      for (const recorded of batch) {
        const node = nodeOf(recorded.stream);
        if (node === undefined) continue;
        const { event } = decodeEvent(recorded);
        if (event.type === 'NodeSeen')
          this.#seen.set(node, {
            reads: event.reads,
            drained: positionIn(event.drained),
            atMs: clock.monotonic(),
          });
        else this.#seen.delete(node);
      }
    }
  }
}

function positionIn(text: unknown): LogPosition | undefined {
  return typeof text === 'string' && /^\d{1,40}$/u.test(text)
    ? logPosition(BigInt(text))
    : text === undefined
      ? undefined
      : logStart;
}

/**
 * Calls `isReady` once in each heartbeat interval, until `isReady` returns true or the signal aborts. Throws the errors
 * of `recordHeartbeats` and of `isReady`.
 */
export async function whileListening(
  dependencies: LiveNodesDependencies,
  signal: AbortSignal,
  isReady: (nodes: LiveNodes) => Promise<boolean>,
): Promise<void> {
  const round = new AbortController();
  const both = AbortSignal.any([signal, round.signal]);
  const nodes = new LiveNodes(dependencies);
  const untilReady = async (): Promise<void> => {
    for (;;) {
      await delay(dependencies.clock, leaseRenewMs, both);
      if (both.aborted || (await isReady(nodes))) return;
    }
  };
  try {
    await Promise.race([nodes.recordHeartbeats(both), untilReady()]);
  } finally {
    round.abort();
  }
}
