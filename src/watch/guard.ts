import type { ApiRequest } from '../auth/permission-reader.ts';
import type { Subject } from '../command/subject.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { watchGuardMs } from '../limits/watches.ts';
import { resourceRequest } from '../resource/request-path.ts';
import type { WatchHub } from './hub.ts';

export type Allows = (subject: Subject, request: ApiRequest) => boolean;

export type WatchGuardDependencies = {
  readonly hub: Pick<WatchHub, 'recheck'>;
  /** Whatever else outlives its request: ends what `allows` does not allow any more. */
  readonly recheckStreams?: (allows: Allows) => void;
  readonly clock: Clock;
  /** Whether this subject may still make this request: its credential counts, and a rule allows it. */
  readonly allows: Allows;
};

/**
 * A watch outlives the request that began it, as does a stream of a plugin's, so what allowed it is asked again: in the turn in which rights change, and
 * every few seconds for credentials that simply run out (decision 5.5).
 */
export class WatchGuard {
  readonly #dependencies: WatchGuardDependencies;
  #timer: Timer;

  constructor(dependencies: WatchGuardDependencies) {
    this.#dependencies = dependencies;
    this.#timer = this.#await();
  }

  /** Ends every watch and every stream that is not allowed any more. */
  recheck(): void {
    const { hub, recheckStreams, allows } = this.#dependencies;
    recheckStreams?.(allows);
    hub.recheck(({ type, name, subject }) => {
      const { group, version, plural: resource } = type;
      return allows(subject, resourceRequest('watch', { group, version, resource, ...(name === undefined ? {} : { name }) }));
    });
  }

  stop(): void {
    this.#timer.cancel();
  }

  #await(): Timer {
    return this.#dependencies.clock.after(watchGuardMs, () => {
      this.recheck();
      this.#timer = this.#await();
    });
  }
}
