import type { CausingEvent } from '../src/command/event.ts';
import type { Leadership } from '../src/read/leadership.ts';
import type { Clock } from '../src/base/clock.ts';
import type { ReconcileSlots } from './reconcile-slots.ts';
import type { Sample } from '../src/read/operation/reconciler-report.ts';
import type { TypeKey } from '../src/resource/type/index-entry.ts';
import type { Outcome } from './outcome.ts';

/** Keys that are read incrementally. At an `undefined` element, other work may run. */
export type Keys = Iterable<string | undefined>;

export type Step = {
  /** Aborts when this node is no longer the leader, when the controller stops, or at the time limit of the step. */
  readonly signal: AbortSignal;
  /** The last event that enqueued the key of this step; undefined if no event enqueued the key. */
  readonly cause: CausingEvent | undefined;
};

export type SlowedKeys = Sample<{ readonly name: string; readonly reason: string }>;

export type ControllerOptions = {
  /** The name in metrics. */
  readonly name: string;
  readonly bound: ReconcileSlots;
  /** The plugin of the controller, for its share of the slots; undefined for a controller of the platform. */
  readonly plugin?: string;
  /** The maximum number of concurrent steps, without stuck steps. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly leadership: Leadership;
  /** Reads the current state and performs one step. */
  readonly reconcile: (key: string, step: Step) => Promise<Outcome> | Outcome;
  /** Returns all keys. A key that is added or removed during the iteration may or may not be included. */
  readonly keys: () => Keys;
  readonly timeLimitMs?: number;
  /** The type of the reconciled objects, for reports; undefined if there are several types. */
  readonly type?: TypeKey;
  /** Returns the keys that are slowed down because their steps spin, at most 16 of them; none by default. */
  readonly slowed?: () => SlowedKeys;
  /**
   * Converts an error of a step to a text of bounded length for reports; by default its message. Must not throw.
   */
  readonly describe?: (error: unknown, attempts: number) => string;
  /**
   * Called when a step has failed, before the controller retries. `attempts` is the number of consecutive failures.
   * `key` is empty if `keys` itself has failed.
   */
  readonly onError: (error: unknown, key: string, attempts: number) => void;
  /**
   * Called when a step still runs at its time limit, or when a stop no longer waits for the step. No other step of the
   * key starts until the step ends.
   */
  readonly onStuck?: (key: string) => void;
  /** Called when a step of a key succeeds after a failure, or when a stuck step ends. */
  readonly onRecovered?: (key: string) => void;
};
