import type { Clock } from '../base/clock.ts';
import { refusalLinesMax, refusalLinesMs, refusalReasonLengthMax } from '../limits/access.ts';
import type { PluginLogger } from '../plugin/plugin.ts';

export type Refused = {
  readonly requestId: string;
  readonly address: string;
  readonly reason: string;
  readonly username: string | undefined;
};

export type RefusalLogDependencies = {
  readonly log: Pick<PluginLogger, 'warn'>;
  readonly clock: Clock;
  readonly isUser: (name: string) => boolean;
};

/**
 * Log-ins that fail and requests that are forbidden, at most so many lines a minute; one more line then counts the rest. A
 * name that no user has is left out: it may be a password in the wrong field.
 */
export class RefusalLog {
  readonly #dependencies: RefusalLogDependencies;
  #lines = 0;
  #leftOut = 0;
  #endsAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: RefusalLogDependencies) {
    this.#dependencies = dependencies;
  }

  /** `username` is what the client claims. */
  logInFailed(refused: Refused): void {
    const { username } = refused;
    const user = username === undefined || this.#dependencies.isUser(username) ? username : null;
    this.#note('a log-in failed', refused, user);
  }

  /** `username` is verified. */
  forbidden(refused: Refused): void {
    this.#note('a request was refused', refused, refused.username);
  }

  #note(message: string, { requestId, address, reason }: Refused, user: string | null | undefined): void {
    const { log, clock } = this.#dependencies;
    if (clock.monotonic() >= this.#endsAt) this.#open();
    if (this.#lines >= refusalLinesMax) {
      if (this.#leftOut === 0) clock.after(this.#endsAt - clock.monotonic(), () => { this.#close(); });
      this.#leftOut += 1;
      return;
    }
    this.#lines += 1;
    log.warn(message, { requestId, address, ...user === undefined ? {} : { user }, reason: reason.slice(0, refusalReasonLengthMax) });
  }

  #open(): void {
    this.#close();
    this.#lines = 0;
    this.#endsAt = this.#dependencies.clock.monotonic() + refusalLinesMs;
  }

  #close(): void {
    if (this.#leftOut === 0) return;
    this.#dependencies.log.warn('refusals were left out of the log', { count: this.#leftOut });
    this.#leftOut = 0;
  }
}
