import type { CausingEvent } from '../../command/event.ts';
import type { Clock, Timer } from '../../base/clock.ts';

/** The reconciliation of one plugin: at most one runs, and a request meanwhile leads to another pass of it. */
export class Reconciliation {
  #running: Promise<void> | undefined;
  #isRequested = false;
  /** The last event that requested the next pass, and the one of the present pass. */
  #nextCause: CausingEvent | undefined;
  #cause: CausingEvent | undefined;
  #isStopped = false;
  #retry: Timer | undefined;

  /** The run in progress. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** The host stops: no further step runs. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The last event of the Plugin object that led to the present pass; undefined for another reason. */
  get cause(): CausingEvent | undefined {
    return this.#cause;
  }

  /** Requests a pass; starts a run, unless one is in progress. */
  request(run: () => Promise<void>, cause?: CausingEvent): void {
    this.#isRequested = true;
    this.#nextCause = cause ?? this.#nextCause;
    this.#running ??= run();
  }

  /** Requests another pass of the present run. */
  repeat(): void {
    this.#isRequested = true;
  }

  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** Begins the requested pass: later requests lead to another one. */
  beginPass(): void {
    this.#isRequested = false;
    this.#cause = this.#nextCause;
    this.#nextCause = undefined;
  }

  endRun(): void {
    this.#running = undefined;
  }

  /** Replaces a retry that is planned already. */
  retryAfter(clock: Clock, delayMs: number, retry: () => void): void {
    this.cancelRetry();
    this.#retry = clock.after(delayMs, retry);
  }

  cancelRetry(): void {
    this.#retry?.cancel();
  }

  stop(): void {
    this.#isStopped = true;
    this.cancelRetry();
  }
}
