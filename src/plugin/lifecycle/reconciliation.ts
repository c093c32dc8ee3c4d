import type { CausingEvent } from '../../command/event.ts';
import type { Clock, Timer } from '../../base/clock.ts';

/**
 * The reconciliation of one plugin. At most one run is in progress. A run has one or more passes. A request during a
 * run causes another pass.
 */
export class Reconciliation {
  #running: Promise<void> | undefined;
  #isRequested = false;
  /** The last event that requested the next pass. */
  #nextCause: CausingEvent | undefined;
  /** The last event that requested the present pass. */
  #cause: CausingEvent | undefined;
  #isStopped = false;
  #retry: Timer | undefined;

  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Whether the host stops, so that no further step runs. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The last event of the Plugin object that requested the present pass; undefined if the pass has another reason. */
  get cause(): CausingEvent | undefined {
    return this.#cause;
  }

  /** Requests a pass, and starts a run unless a run is in progress. */
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

  /** Begins the requested pass. Later requests cause another pass. */
  beginPass(): void {
    this.#isRequested = false;
    this.#cause = this.#nextCause;
    this.#nextCause = undefined;
  }

  endRun(): void {
    this.#running = undefined;
  }

  /** Schedules a retry, which replaces an earlier retry. */
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
