import type { AccessRecorder } from '../auth/access-events/access-recorder.ts';
import type { Clock } from '../base/clock.ts';
import { SlidingCounts } from '../base/sliding-counts.ts';
import type { AccessKind } from '../command/event.ts';
import { refusalLinesMax, refusalLinesMs, refusalReasonLengthMax } from '../limits/access.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';

export type Refused = {
  readonly requestId: string;
  readonly address: string;
  readonly reason: string;
  readonly username: string | undefined;
  /** The name of the personal access token. */
  readonly token?: string | undefined;
  readonly verb?: string | undefined;
  readonly path?: string | undefined;
};

export type RefusalLogDependencies = {
  readonly log: Pick<PluginLogger, 'warn'>;
  readonly clock: Clock;
  readonly isUser: (name: string) => boolean;
  readonly accesses: AccessRecorder;
};

/**
 * Records failed log-ins and refused requests as events. Also logs failed log-ins and forbidden requests, up to
 * `refusalLinesMax` lines in `refusalLinesMs`. The name of an unknown user is omitted, because it may be a password in
 * the wrong field.
 */
export class RefusalLog {
  readonly #dependencies: RefusalLogDependencies;
  readonly #lines = new SlidingCounts({ windowMs: refusalLinesMs, keysMax: 1, eventsMax: refusalLinesMax });
  #leftOut = 0;

  constructor(dependencies: RefusalLogDependencies) {
    this.#dependencies = dependencies;
  }

  /** `username` is unverified input of the client. */
  logInFailed(refused: Refused): void {
    const { username } = refused;
    const user = username === undefined || this.#dependencies.isUser(username) ? username : null;
    this.#recordAccess(username === undefined ? 'unauthorized' : 'login-failed', refused, user);
    this.#record('a log-in failed', refused, user);
  }

  /** Records a failed log-in at the identity provider. Its user is unknown. */
  providerLogInFailed(refused: Omit<Refused, 'username'>): void {
    const unknown = { ...refused, username: undefined };
    this.#recordAccess('login-failed', unknown, null);
    this.#record('a log-in at the identity provider failed', unknown, undefined);
  }

  /** `username` is verified. */
  forbidden(refused: Refused): void {
    this.#recordAccess('forbidden', refused, refused.username);
    this.#record('a request was refused', refused, refused.username);
  }

  /**
   * Records a request without credentials that needs credentials. Such a request is not logged, because clients usually
   * send their first request without credentials.
   */
  unauthorized(refused: Refused): void {
    this.#recordAccess('unauthorized', refused, undefined);
  }

  #recordAccess(
    kind: AccessKind,
    { requestId, address, token, verb, path }: Refused,
    user: string | null | undefined,
  ): void {
    this.#dependencies.accesses.record({ kind, requestId, address, user, token, verb, path });
  }

  #record(message: string, { requestId, address, reason }: Refused, user: string | null | undefined): void {
    const { log, clock } = this.#dependencies;
    const now = clock.monotonic();
    if (this.#lines.count('', now) >= refusalLinesMax) {
      if (this.#leftOut === 0)
        clock.after(refusalLinesMs, () => {
          this.#countLeftOut();
        });
      this.#leftOut += 1;
      return;
    }
    this.#lines.add('', now);
    log.warn(message, {
      requestId,
      address,
      ...(user === undefined ? {} : { user }),
      reason: reason.slice(0, refusalReasonLengthMax),
    });
  }

  #countLeftOut(): void {
    this.#dependencies.log.warn('some failed log-ins and refused requests have no log line', { count: this.#leftOut });
    this.#leftOut = 0;
  }
}
