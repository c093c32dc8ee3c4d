import type { CausingEvent } from '../src/command/event.ts';
import type { Failures } from './failures.ts';

/**
 * A term of this node as the leader, identified by its failures. At its end, the waiting keys are dropped, and the
 * running steps are aborted.
 */
export type Term = Failures;

/** A running step. No other step of the same key starts until this step ends. */
export class ReconcileStep {
  readonly key: string;
  readonly term: Term;
  /** The last event that enqueued the key; undefined if no event enqueued it. */
  readonly cause: CausingEvent | undefined;
  /** Whether the step has exceeded its time limit. */
  isStuck = false;
  /** Created on first use. Creating it costs more than a short step, and most steps do not use it. */
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(key: string, term: Term, cause: CausingEvent | undefined) {
    this.key = key;
    this.term = term;
    this.cause = cause;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}
