import type { ApiRequest } from '../read/permission-reader.ts';
import type { Subject } from '../command/subject.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { watchGuardMs } from '../limits/watches.ts';
import { resourceRequest } from '../resource/query/request-path.ts';
import type { WatchHub } from './hub.ts';
import type { Watched } from './watch-plan.ts';

export type Allows = (subject: Subject, request: ApiRequest) => boolean;

export type WatchGuardDependencies = {
  readonly hub: Pick<WatchHub, 'recheck'>;
  /** Ends the plugins' streams that `allows` rejects. */
  readonly recheckStreams?: (allows: Allows) => void;
  readonly clock: Clock;
  /**
   * Returns whether the subject may still make this request: the credential is valid, and a rule allows the request.
   */
  readonly allows: Allows;
};

/**
 * Authorizes open watches and plugins' streams again, in the turn in which rights change and every few seconds, because
 * credentials may expire (decision 5.5).
 */
export class WatchGuard {
  readonly #dependencies: WatchGuardDependencies;
  #timer: Timer;

  constructor(dependencies: WatchGuardDependencies) {
    this.#dependencies = dependencies;
    this.#timer = this.#await();
  }

  /** Ends each watch and stream that is no longer allowed, in this turn or in later turns. */
  recheck(): void {
    const { hub, recheckStreams, allows } = this.#dependencies;
    // The cached decisions are used only for this check.
    const answers = new Answers();
    recheckStreams?.((subject, request) =>
      answers.of(subject, `${request.kind} ${request.verb} ${request.path}`, () => allows(subject, request)),
    );
    hub.recheck((watched) => {
      const {
        type: { path },
        name,
        subject,
      } = watched;
      return answers.of(subject, name === undefined ? path : `${path}/${name}`, () => allowsWatch(allows, watched));
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

/** Caches decisions, so that equal requests of one subject are decided once. */
class Answers {
  readonly #given = new Map<Subject, Map<string, boolean>>();

  of(subject: Subject, question: string, decide: () => boolean): boolean {
    let ofSubject = this.#given.get(subject);
    if (ofSubject === undefined) this.#given.set(subject, (ofSubject = new Map<string, boolean>()));
    let answer = ofSubject.get(question);
    if (answer === undefined) ofSubject.set(question, (answer = decide()));
    return answer;
  }
}

function allowsWatch(allows: Allows, { type, name, subject }: Watched): boolean {
  const { group, version, plural: resource } = type;
  const place = { group, version, resource, ...(name === undefined ? {} : { name }) };
  return allows(subject, resourceRequest('watch', place));
}
