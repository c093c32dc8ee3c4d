import type { Clock, Timer } from '../../base/clock.ts';

/** The reconciliation of one plugin: at most one runs, and a request meanwhile leads to another pass of it. */
export class Reconciliation {
  #running: Promise<void> | undefined;
  #isRequested = false;
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

  /** Requests a pass; starts a run, unless one is in progress. */
  request(run: () => Promise<void>): void {
    this.#isRequested = true;
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
