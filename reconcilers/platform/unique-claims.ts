import type { Leadership } from '../../src/read/leadership.ts';
import type { HeldValue } from '../../src/resource/type/held-values.ts';
import { delay, type Clock } from '../../src/base/clock.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import { serviceController } from '../../src/base/service-controller.ts';
import { claimPendingWaitMs } from '../../src/limits/writes.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import {
  logStart,
  streamName,
  type EventLog,
  type LogPosition,
  type StreamName,
  type StreamRevision,
} from '../../src/log/log.ts';
import type { Change, ChangeFeed, ObjectReader } from '../../src/read/objects.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { releasedValues } from '../../src/resource/type/held-values.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import type { ReconcileSlots } from '../reconcile-slots.ts';
import { Controller } from '../controller.ts';
import { again, failed, settled, type Outcome } from '../outcome.ts';
import { claimConcurrencyMax, claimSweepMs, claimSweepPerSecondMax } from './platform-limits.ts';

type ClaimStep = {
  readonly fenceOf: StreamRevision | undefined;
  readonly cause: CausingEvent | undefined;
};

export type ClaimsDependencies = {
  readonly changes: ChangeFeed;
  readonly reader: Pick<ObjectReader, 'position'>;
  readonly log: Pick<EventLog, 'readAll'>;
  readonly types: (key: TypeKey) => ResourceType | undefined;
  readonly streamOf: (type: TypeKey, value: HeldValue) => StreamName;
  /**
   * Checks one claim and performs one step. `fenceOf`: the revision of a claim with an overdue pending append, which
   * the step must fence. `cause`: the event that led to the step.
   */
  readonly settle: (stream: StreamName, step: ClaimStep) => Promise<Settling>;
  readonly leadership: Leadership;
  readonly bound: ReconcileSlots;
  readonly clock: Clock;
  readonly onError: (error: unknown, key: string) => void;
};

export type Settling =
  | { readonly outcome: 'settled' }
  | { readonly outcome: 'pending'; readonly claim: StreamRevision; readonly isStale: boolean }
  | { readonly outcome: 'unavailable'; readonly cause: unknown };

type SweptRange = {
  readonly after: LogPosition;
  readonly until?: LogPosition;
};

/**
 * Releases claims of unique values if the object that the claim names does not have the value, for example after a
 * failed write (docs/spec/consistency.md, 1). A release only frees space, because a writer that needs such a value
 * releases the claim itself.
 *
 * A last step of a deposed leader is harmless (docs/spec/consistency.md, 6). A release requires the revision of the
 * claim, and a fence takes a revision that only an abandoned append could use.
 */
export class Claims {
  readonly #dependencies: ClaimsDependencies;
  /** The keys of the controller are claim streams. */
  readonly #controller: Controller;
  readonly #unsubscribe: readonly (() => void)[];
  /**
   * The claims with an append that may still succeed: the revision of each claim, and the start of the wait for the
   * append on the monotonic clock.
   */
  readonly #pending = new Map<string, { readonly claim: StreamRevision; readonly sinceMs: number }>();
  /** Aborts the sweep through all claims. */
  #sweep = serviceController();
  #sweeping: Promise<void> = Promise.resolve();
  #isOpen = false;
  #isStopped = false;

  constructor(dependencies: ClaimsDependencies) {
    const { changes, bound, clock, leadership, onError } = dependencies;
    this.#dependencies = dependencies;
    this.#controller = new Controller({
      name: 'claims',
      bound,
      concurrency: claimConcurrencyMax,
      clock,
      leadership,
      onError,
      keys: () => [],
      reconcile: (stream, { cause }) => this.#reconcile(stream, cause),
    });
    this.#unsubscribe = [
      changes.subscribe((batch) => {
        for (const change of batch.changes) this.#record(change);
      }),
      leadership.subscribe(() => {
        this.#begin();
      }),
    ];
  }

  /**
   * Sweeps through all claims if this node is the leader, and again whenever this node becomes the leader. Call `open`
   * after the tables have caught up.
   */
  open(): void {
    this.#isOpen = true;
    this.#controller.open();
    this.#begin();
  }

  async idle(): Promise<void> {
    return this.#controller.idle();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#sweep.abort();
    await this.#sweeping;
    await this.#controller.stop();
  }

  #record({ type: key, before, after, cause }: Change): void {
    if (before === undefined) return;
    const { types, streamOf } = this.#dependencies;
    const type = types(key);
    if (type === undefined) return;
    for (const value of releasedValues(type.indexes, before, after))
      this.#controller.enqueue(streamOf(key, value), cause);
  }

  async #reconcile(stream: string, cause: CausingEvent | undefined): Promise<Outcome> {
    const { clock, settle } = this.#dependencies;
    const waiting = this.#pending.get(stream);
    const isDue = waiting !== undefined && clock.monotonic() - waiting.sinceMs >= claimPendingWaitMs;
    const came = await settle(streamName(stream), { fenceOf: isDue ? waiting.claim : undefined, cause });
    if (came.outcome === 'unavailable') return failed(came.cause);
    if (came.outcome === 'settled') {
      this.#pending.delete(stream);
      return settled;
    }
    if (waiting?.claim !== came.claim || came.isStale)
      this.#pending.set(stream, { claim: came.claim, sinceMs: clock.monotonic() });
    // After a fence, the next step runs immediately.
    return again(isDue ? 0 : claimPendingWaitMs);
  }

  #begin(): void {
    this.#sweep.abort();
    this.#pending.clear();
    if (!this.#isOpen || this.#isStopped || !this.#dependencies.leadership.isLeader()) return;
    this.#sweep = serviceController();
    const { signal } = this.#sweep;
    this.#sweeping = this.#sweepAgain(signal);
  }

  /**
   * Sweeps through all claims once, and then repeatedly through new claims, since no change of an object enqueues the
   * claim of a failed write.
   */
  async #sweepAgain(signal: AbortSignal): Promise<void> {
    const { clock, onError, reader } = this.#dependencies;
    const isOver = (): boolean => signal.aborted;
    let after = logStart;
    while (!isOver()) {
      // All folded events are in the log, even if a deposed leader of EventStoreDB returns an earlier end. So the sweep
      // first reads up to the folded position, and then the claims after this position.
      const folded = reader.position();
      try {
        for await (const position of this.#lookThrough({ after, until: folded }, signal)) after = position;
        if (folded > after) after = folded;
        for await (const position of this.#lookThrough({ after }, signal)) after = position;
      } catch (error) {
        if (!isOver()) onError(error, '');
      }
      await delay(clock, claimSweepMs, signal);
    }
  }

  async *#lookThrough(range: SweptRange, signal: AbortSignal): AsyncIterable<LogPosition> {
    const { clock, log } = this.#dependencies;
    for await (const batch of log.readAll({ ...range, categories: ['claim'], signal })) {
      if (signal.aborted) return;
      for (const recorded of batch) {
        if (decodeEvent(recorded).event.type === 'ValueClaimed') this.#controller.enqueue(recorded.stream);
        yield recorded.position;
      }
      await delay(clock, (batch.length * 1_000) / claimSweepPerSecondMax, signal);
    }
  }
}
