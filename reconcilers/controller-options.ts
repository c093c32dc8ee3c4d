import type { Clock } from '../src/base/clock.ts';
import type { ReconcileBound } from './bound.ts';
import type { Leadership } from './lease.ts';
import type { Outcome } from './outcome.ts';

/** Keys, read bit by bit: other work may come between two of them. Undefined is no key, and only lets other work in. */
export type Keys = Iterable<string | undefined>;

export type ControllerOptions = {
  /** Of its metrics. */
  readonly name: string;
  readonly bound: ReconcileBound;
  /** Whose share of the bound it has; the platform's without. */
  readonly plugin?: string;
  /** Steps at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly leadership: Leadership;
  /** Reads the world and takes one step. Its signal aborts when this node leads no more, when this stops, and at the time limit. */
  readonly reconcile: (key: string, step: { readonly signal: AbortSignal }) => Promise<Outcome> | Outcome;
  /** Every key there is. Keys that come and go meanwhile may be among them or not. */
  readonly keys: () => Keys;
  readonly timeLimitMs?: number;
  /** A step has failed, for the how manieth time in a row, and is tried again; or `keys` has, with an empty key. */
  readonly onError: (error: unknown, key: string, attempts: number) => void;
  /** A step has passed its time limit and has not ended: its key is held until it does. */
  readonly onStuck?: (key: string) => void;
  /** A key that had failed, or was held past its time, is well again or let go. */
  readonly onRecovered?: (key: string) => void;
};
