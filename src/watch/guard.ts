import type { ApiRequest } from '../auth/permission-reader.ts';
import type { Subject } from '../command/subject.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { watchGuardMs } from '../limits/watches.ts';
import { resourceRequest } from '../resource/request-path.ts';
import type { Watched, WatchHub } from './hub.ts';

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
    // All answers are of this turn: a watch that lost its right must not get the next frame. Alike watches share one.
    const answers = new Map<Subject, Map<string, boolean>>();
    hub.recheck((watched) => {
      const { type: { path }, name, subject } = watched;
      let ofSubject = answers.get(subject);
      if (ofSubject === undefined) answers.set(subject, ofSubject = new Map<string, boolean>());
      const key = name === undefined ? path : `${path}/${name}`;
      let allowed = ofSubject.get(key);
      if (allowed === undefined) ofSubject.set(key, allowed = allowsWatch(allows, watched));
      return allowed;
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

function allowsWatch(allows: Allows, { type, name, subject }: Watched): boolean {
  const { group, version, plural: resource } = type;
  const place = { group, version, resource, ...(name === undefined ? {} : { name }) };
  return allows(subject, resourceRequest('watch', place));
}
