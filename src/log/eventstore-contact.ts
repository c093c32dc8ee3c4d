import type { Clock } from '../base/clock.ts';
import { eventStoreHosts } from '../eventstore-url.ts';
import type { EventStoreUrl } from '../eventstore-url.ts';
import { wantsTls } from './eventstore-client.ts';
import type { Fault } from './eventstore-errors.ts';
import { logAskAgainMsMax, logAskAgainMsMin } from './eventstore-limits.ts';
import { LogRefusedError } from './log.ts';
import type { LogState } from './log.ts';

/** The log does not answer now. It is asked again and again, so whoever gets this may ask again too. */
export class LogAwayError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`the event log cannot be reached: ${reason}`, options);
    this.name = 'LogAwayError';
  }
}

/** What is known of the server: whether it answers, since when, and whether it ever did. */
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
    this.#state = { reachable: false, reason: `${this.hosts} has not answered yet`, sinceMs: clock.monotonic() };
  }

  get state(): LogState {
    return this.#state;
  }

  worked(): void {
    if (this.#state.reachable) return;
    this.#everWorked = true;
    this.#state = { reachable: true };
    this.#onState(this.#state);
  }

  /** The error to give whoever asked. The state's reason is the newest one, but only a change of it is told. */
  async failed(fault: Fault, cause: unknown): Promise<LogAwayError | LogRefusedError> {
    const reason = `${this.hosts}: ${await this.#reasonOf(fault)}`;
    if (!this.#everWorked && (fault.kind === 'refused' || (await this.#speaksTls) === true)) return new LogRefusedError(reason, { cause });
    this.away(reason);
    return new LogAwayError(reason, { cause });
  }

  away(reason: string): void {
    const before = this.#state;
    this.#state = { reachable: false, reason, sinceMs: before.reachable ? this.#clock.monotonic() : before.sinceMs };
    if (before.reachable) this.#onState(this.#state);
  }

  async #reasonOf(fault: Fault): Promise<string> {
    if (fault.kind === 'refused' || fault.kind === 'failed') return fault.reason;
    if (fault.kind !== 'away') return `it answered ${fault.kind}`;
    // A server that wants TLS hangs up on whoever does not begin with it, as one that is starting does.
    if (!this.#url.tls && !this.#everWorked) {
      const asked = this.#speaksTls ??= wantsTls(this.#url, this.#clock);
      if (await asked) return 'it speaks TLS only, and the URL says tls=false';
      this.#speaksTls = undefined;
    }
    return fault.reason;
  }
}

/** How long to wait before asking for the n-th time (from 1) after a failure. */
export function askAgainMs(failures: number): number {
  return Math.min(logAskAgainMsMax, logAskAgainMsMin * 2 ** Math.min(failures - 1, 16));
}
