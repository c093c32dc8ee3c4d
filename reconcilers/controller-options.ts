import type { CausingEvent } from '../src/command/event.ts';
import type { Leadership } from '../src/read/leadership.ts';
import type { Clock } from '../src/base/clock.ts';
import type { ReconcileSlots } from './reconcile-slots.ts';
import type { Outcome } from './outcome.ts';

/** Keys, read incrementally: other work may run in between. Undefined is not a key, and only yields. */
export type Keys = Iterable<string | undefined>;

export type Step = {
  /** Aborts when this node loses leadership, when the controller stops, and at the time limit. */
  readonly signal: AbortSignal;
  /** The last event that led to this step; undefined for a key that is enqueued with all others. */
  readonly cause: CausingEvent | undefined;
};

export type ControllerOptions = {
  /** Of its metrics. */
  readonly name: string;
  readonly bound: ReconcileSlots;
  /** The plugin with the share of slots; the platform's by default. */
  readonly plugin?: string;
  /** Steps at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly leadership: Leadership;
  /** Reads the present state and takes one step. */
  readonly reconcile: (key: string, step: Step) => Promise<Outcome> | Outcome;
  /** All keys. Keys that appear or disappear meanwhile may or may not be included. */
  readonly keys: () => Keys;
  readonly timeLimitMs?: number;
  /** A step failed, with the number of consecutive failures, and is retried; or `keys` failed, with an empty key. */
  readonly onError: (error: unknown, key: string, attempts: number) => void;
  /** A step exceeded its time limit and has not ended: its key is held until it does. */
  readonly onStuck?: (key: string) => void;
  /** A key that had failed or was stuck has recovered or was released. */
  readonly onRecovered?: (key: string) => void;
};
