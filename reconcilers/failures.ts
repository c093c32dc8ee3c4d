import { messageOf } from '../src/base/error-message.ts';
import {
  reconcileErrorLengthMax,
  reconcileFailingNamesMax,
  reconcileRetryMsMax,
  reconcileRetryMsMin,
} from './reconcile-limits.ts';

export type Failure = { readonly attempts: number; readonly atMs: number; readonly error: string };

export type FailureContext = {
  /** The wall-clock time of the failure. */
  readonly nowMs: number;
  /** Converts the error to a text of bounded length. Must not throw, even if the error throws when it is read. */
  readonly describe: (error: unknown, attempts: number) => string;
};

/**
 * The keys with a failed last step, with the number of consecutive failures. Also stores the last error of at most
 * `reconcileFailingNamesMax` of these keys. When such a key recovers, the next key that fails takes its place.
 */
export class Failures {
  readonly #attempts = new Map<string, number>();
  readonly #described = new Map<string, Failure>();

  get attempts(): ReadonlyMap<string, number> {
    return this.#attempts;
  }

  /** The keys with a recorded error, in the order in which their first errors were recorded. */
  get described(): ReadonlyMap<string, Failure> {
    return this.#described;
  }

  /** Records a failure. Returns the number of consecutive failures of the key. */
  record(key: string, error: unknown, { nowMs, describe }: FailureContext): number {
    const attempts = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempts);
    if (this.#described.has(key) || this.#described.size < reconcileFailingNamesMax)
      this.#described.set(key, { attempts, atMs: nowMs, error: describe(error, attempts) });
    return attempts;
  }

  /** Returns whether the key was failing. */
  delete(key: string): boolean {
    this.#described.delete(key);
    return this.#attempts.delete(key);
  }
}

/** Returns the message of any thrown value. An error of foreign code may throw when it is read. */
export function describeSafely(error: unknown): string {
  try {
    return messageOf(error).slice(0, reconcileErrorLengthMax);
  } catch {
    return 'the error cannot be printed';
  }
}

/** Returns the delay before the next try after this number of consecutive failures. */
export function retryMs(attempts: number): number {
  return Math.min(reconcileRetryMsMin * 2 ** Math.min(attempts - 1, 30), reconcileRetryMsMax);
}
