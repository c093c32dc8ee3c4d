import type { Clock } from '../../base/clock.ts';
import { eventStoreHosts } from '../../config/eventstore-url.ts';
import type { EventStoreUrl } from '../../config/eventstore-url.ts';
import { wantsTls } from './eventstore-client.ts';
import type { Fault } from './eventstore-errors.ts';
import { logAskAgainMsMax, logAskAgainMsMin } from './eventstore-limits.ts';
import { LogRefusedError } from '../log.ts';
import type { LogState } from '../log.ts';

/** The log is unavailable now. A later retry may succeed. */
export class LogUnavailableError extends Error {
  readonly reason: string;

  constructor(reason: string, options?: ErrorOptions) {
    super(`the event log is unreachable: ${reason}`, options);
    this.name = 'LogUnavailableError';
    this.reason = reason;
  }
}

/** Tracks whether EventStoreDB is available, since when it is unavailable, and whether it was ever available. */
export class Contact {
  readonly hosts: string;
  readonly #url: EventStoreUrl;
  readonly #clock: Clock;
  readonly #onState: (state: LogState) => void;
  #state: LogState;
  #everWorked = false;
  #speaksTls: Promise<boolean> | undefined;

  constructor(url: EventStoreUrl, clock: Clock, onState: (state: LogState) => void) {
    this.#url = url;
    this.#clock = clock;
    this.#onState = onState;
    this.hosts = eventStoreHosts(url);
    this.#state = { reachable: false, reason: `${this.hosts} has not responded yet`, sinceMs: clock.monotonic() };
  }

  get state(): LogState {
    return this.#state;
  }

  /**
   * Returns an error if EventStoreDB was available and is unavailable now, so that calls fail immediately. Returns
   * undefined in all other cases.
   */
  known(): LogUnavailableError | undefined {
    return this.#everWorked && !this.#state.reachable ? new LogUnavailableError(this.#state.reason) : undefined;
  }

  worked(): void {
    if (this.#state.reachable) return;
    this.#everWorked = true;
    this.#state = { reachable: true };
    this.#onState(this.#state);
  }

  /**
   * Records a failure, and returns the error for the caller. Calls `onState` if the log becomes unavailable. Returns a
   * `LogRefusedError` if the server refuses this node and was never available.
   */
  async failed(fault: Fault, cause: unknown): Promise<LogUnavailableError | LogRefusedError> {
    if (!this.#everWorked) {
      const refusal = await this.#refusalOf(fault);
      if (refusal !== undefined) return new LogRefusedError(`the event log at ${this.hosts}: ${refusal}`, { cause });
    }
    const before = this.#state;
    const error = this.lostReply(fault, cause);
    this.#state = {
      reachable: false,
      reason: error.reason,
      sinceMs: before.reachable ? this.#clock.monotonic() : before.sinceMs,
    };
    if (before.reachable) this.#onState(this.#state);
    return error;
  }

  /** Returns the error for one lost reply. The state remains unchanged. */
  lostReply(fault: Fault, cause: unknown): LogUnavailableError {
    return new LogUnavailableError(`${this.hosts}: ${'reason' in fault ? fault.reason : fault.kind}`, { cause });
  }

  async #refusalOf(fault: Fault): Promise<string | undefined> {
    if (fault.kind === 'refused') return fault.reason;
    if (fault.kind !== 'away' || this.#url.tls) return undefined;
    // Both a TLS server and a starting server close connections without TLS. Only a TLS server accepts a TLS
    // connection.
    this.#speaksTls ??= wantsTls(this.#url, this.#clock);
    if (await this.#speaksTls) return 'the server requires TLS, but the URL has tls=false';
    this.#speaksTls = undefined;
    return undefined;
  }
}

/** `failures` is the number of consecutive failures, at least 1. */
export function retryDelayMs(failures: number): number {
  return Math.min(logAskAgainMsMax, logAskAgainMsMin * 2 ** Math.min(failures - 1, 16));
}
