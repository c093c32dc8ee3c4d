import type { CausingEvent } from '../src/command/event.ts';
import type { Leadership } from '../src/read/leadership.ts';
import type { Clock } from '../src/base/clock.ts';
import type { ReconcileSlots } from './reconcile-slots.ts';
import type { Outcome } from './outcome.ts';

/** Keys, read incrementally, so that other work may run in between. Undefined is not a key: it only yields. */
export type Keys = Iterable<string | undefined>;

export type Step = {
  /** Aborts when this node loses leadership, when the controller stops, and at the step's time limit. */
  readonly signal: AbortSignal;
  /** The last event that led to this step; undefined for a key that was enqueued with all others. */
  readonly cause: CausingEvent | undefined;
};

export type ControllerOptions = {
  /** The name in metrics. */
  readonly name: string;
  readonly bound: ReconcileSlots;
  /** The plugin with the share of slots; the platform's by default. */
  readonly plugin?: string;
  /** The highest number of concurrent steps. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly leadership: Leadership;
  /** Reads the present state and takes one step. */
  readonly reconcile: (key: string, step: Step) => Promise<Outcome> | Outcome;
  /** All keys. A key that appears or disappears during the iteration may or may not be included. */
  readonly keys: () => Keys;
  readonly timeLimitMs?: number;
  /**
   * A step failed and will be retried; `attempts` counts consecutive failures. If `keys` itself failed, `key` is empty.
   */
  readonly onError: (error: unknown, key: string, attempts: number) => void;
  /** A step exceeded its time limit and still runs: its key is held until the step ends. */
  readonly onStuck?: (key: string) => void;
  /** A key recovered after a failure, or its stuck step ended. */
  readonly onRecovered?: (key: string) => void;
};
