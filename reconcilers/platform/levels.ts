import type { Leadership } from '../../src/read/leadership.ts';
import { delay, type Clock } from '../../src/base/clock.ts';
import { serviceController } from '../../src/base/service-controller.ts';
import { firstLevel } from '../../src/command/level.ts';
import type { DomainEvent, EventMetadata } from '../../src/command/event.ts';
import { leaseMs } from '../../src/limits/reconcilers.ts';
import { decodeEvent, encodeEvent } from '../../src/log/event-codec.ts';
import { LogCorruptError, streamName, type EventLog, type LogPosition, type RecordedEvent } from '../../src/log/log.ts';
import type { LevelReader } from '../../src/read/declarations.ts';
import type { ObjectReader } from '../../src/read/objects.ts';
import { whileListening, type LiveNodes } from './live-nodes.ts';
import { levelRetryMs } from './platform-limits.ts';

export type LevelsDependencies = {
  readonly log: Pick<EventLog, 'append' | 'readLast' | 'subscribe' | 'head'>;
  readonly reader: Pick<ObjectReader, 'reached'>;
  readonly level: LevelReader;
  readonly leadership: Leadership;
  /** Whether no other node writes to this log. */
  readonly isAlone: boolean;
  /** The name of this node. */
  readonly node: string;
  /** The highest level that this node can read. */
  readonly reads: number;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly metadata: () => EventMetadata;
  readonly onRaised: (level: number) => void;
  readonly onError: (error: unknown) => void;
};

const stream = streamName('platform:level');

/**
 * Raises the level of the log to the highest level that every live node can read (docs/spec/consistency.md, 7).
 * `LiveNodes` determines the live nodes.
 */
export class Levels {
  readonly #dependencies: LevelsDependencies;
  readonly #unsubscribe: () => void;
  #listening = serviceController();
  #isStopped = false;

  constructor(dependencies: LevelsDependencies) {
    this.#dependencies = dependencies;
    this.#unsubscribe = dependencies.leadership.subscribe(() => {
      this.#begin();
    });
  }

  /**
   * Raises the level on a single node. Resolves when this node has folded the highest level that it can read, or after
   * a stop. Does nothing if other nodes may write to the log.
   */
  async open(): Promise<void> {
    const { isAlone, level, reads } = this.#dependencies;
    while (isAlone && level.level() < reads && !this.#isStopped) await this.#raise(reads);
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsubscribe();
    this.#listening.abort();
  }

  #begin(): void {
    const { isAlone, leadership } = this.#dependencies;
    this.#listening.abort();
    this.#listening = serviceController();
    if (!isAlone && leadership.isLeader() && !this.#isStopped) void this.#raiseWhenReady(this.#listening.signal);
  }

  /**
   * Runs until the log has the highest level that this node can read, or until the signal aborts. Heartbeats from
   * before an outage of the log are ignored.
   */
  async #raiseWhenReady(signal: AbortSignal): Promise<void> {
    const { clock, level, reads, onError } = this.#dependencies;
    const isOver = (): boolean => signal.aborted;
    while (!isOver() && level.level() < reads) {
      try {
        await whileListening(this.#dependencies, signal, async (nodes) => this.#raiseIfCommon(nodes));
      } catch (error) {
        if (!isOver() && error instanceof LogCorruptError) onError(error);
      }
      await delay(clock, levelRetryMs, signal);
    }
  }

  /**
   * Raises the level if all live nodes can read a higher level. Returns whether the log has the highest level that this
   * node can read.
   */
  async #raiseIfCommon(nodes: LiveNodes): Promise<boolean> {
    const { level, reads } = this.#dependencies;
    const live = nodes.all();
    const common = live === undefined ? undefined : Math.min(...live.map((node) => node.reads));
    if (common !== undefined && common > level.level()) await this.#raise(common);
    return level.level() >= reads;
  }

  async #raise(level: number): Promise<void> {
    const { log, clock, uuid, metadata, onRaised } = this.#dependencies;
    const last = await log.readLast(stream);
    if (last !== undefined && levelIn(last) >= level) return this.#folded(last.position);
    const event: DomainEvent = { type: 'LevelRaised', level };
    const appended = await log.append(stream, [encodeEvent(uuid(), event, metadata())], last?.revision ?? 'absent');
    if (!appended.ok) {
      await delay(clock, levelRetryMs, this.#listening.signal);
      return;
    }
    onRaised(level);
    await this.#folded(appended.position);
  }

  async #folded(position: LogPosition): Promise<void> {
    await this.#dependencies.reader.reached(position, { timeoutMs: leaseMs });
  }
}

function levelIn(recorded: RecordedEvent): number {
  const { event } = decodeEvent(recorded);
  if (event.type === 'LevelRaised') return Math.max(event.level, firstLevel);
  throw new LogCorruptError(`${recorded.stream} contains a ${event.type} event, which does not belong to this stream`);
}
