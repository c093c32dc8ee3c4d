import type { CausingEvent } from '../src/command/event.ts';
import type { Failures } from './failures.ts';

/** A term of this node as the leader, with the failures of the term's steps. */
export type Term = Failures;

/** A running step. No other step of the same key starts until this step ends. */
export class ReconcileStep {
  readonly key: string;
  readonly term: Term;
  /** The last event that enqueued the key; undefined if no event enqueued the key. */
  readonly cause: CausingEvent | undefined;
  /** Whether the step has exceeded its time limit. */
  isStuck = false;
  /** The controller is created on first use, since its creation costs more than a short step. */
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
