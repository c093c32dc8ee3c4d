import type { Clock } from '../base/clock.ts';
import { ClockAgreement } from './clock-agreement.ts';
import { wrongClock, type Refusal } from './refusals.ts';

export type EventStampsDependencies = {
  readonly clock: Clock;
  /** The latest time of a folded event, in epoch milliseconds: no later event gets an earlier time. */
  readonly lastEventTime: () => number;
  /** The check of this node's clock; absent: the clock is trusted. */
  readonly agreement?: ClockAgreement;
};

/**
 * Assigns times to events: never earlier than the times before, unless those differ too much from the reference time.
 * So later events do not take over a time from a wrong clock (consistency protocol, 8).
 */
export class EventStamps {
  readonly #clock: Clock;
  readonly #agreement: ClockAgreement;
  readonly #lastEventTime: () => number;
  /** The latest assigned time, in epoch milliseconds. */
  #last = 0;

  constructor({ clock, lastEventTime, agreement = new ClockAgreement(clock) }: EventStampsDependencies) {
    this.#clock = clock;
    this.#agreement = agreement;
    this.#lastEventTime = lastEventTime;
  }

  /** Refuses all writes while this node's clock is wrong. */
  refusal(): Refusal | undefined {
    const problem = this.#agreement.problem();
    return problem === undefined ? undefined : wrongClock(problem);
  }

  next(): string {
    const latest = this.#agreement.latest();
    const before = [this.#last, this.#lastEventTime()].filter((time) => time <= latest);
    this.#last = Math.max(this.#clock.now(), ...before);
    return new Date(this.#last).toISOString();
  }
}
