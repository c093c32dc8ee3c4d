import type { Subject } from '../command/subject.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { watchGuardMs } from '../limits.ts';
import { resourceRequest, type ResourceRequest } from '../resource/request-path.ts';
import type { WatchHub } from './hub.ts';

export type WatchGuardDependencies = {
  readonly hub: Pick<WatchHub, 'recheck'>;
  readonly clock: Clock;
  /** Whether this subject may still make this request: its credential counts, and a rule allows it. */
  readonly allows: (subject: Subject, request: ResourceRequest) => boolean;
};

/**
 * A watch outlives the request that began it, so what allowed it is asked again: in the turn in which rights change, and
 * every few seconds for credentials that simply run out (decision 5.5).
 */
export class WatchGuard {
  readonly #dependencies: WatchGuardDependencies;
  #timer: Timer;

  constructor(dependencies: WatchGuardDependencies) {
    this.#dependencies = dependencies;
    this.#timer = this.#await();
  }

  /** Ends every watch that is not allowed any more. */
  recheck(): void {
    const { hub, allows } = this.#dependencies;
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
