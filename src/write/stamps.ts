import type { Clock } from '../base/clock.ts';
import { ClockAgreement } from './clock-agreement.ts';
import { wrongClock, type Refusal } from './refusals.ts';

export type StampsDependencies = {
  readonly clock: Clock;
  /** The latest time that a folded event is of, in epoch milliseconds: no later event is stamped earlier. */
  readonly lastEventTime: () => number;
  /** Without it this node's clock is right. */
  readonly agreement?: ClockAgreement;
};

/**
 * The times of events: none is earlier than those before it, as long as these are about as late as the reference says. One
 * that a wrong clock made is not followed (consistency protocol, 8).
 */
export class Stamps {
  readonly #clock: Clock;
  readonly #agreement: ClockAgreement;
  readonly #lastEventTime: () => number;
  /** The latest given, in epoch milliseconds. */
  #last = 0;

  constructor({ clock, lastEventTime, agreement = new ClockAgreement(clock) }: StampsDependencies) {
    this.#clock = clock;
    this.#agreement = agreement;
    this.#lastEventTime = lastEventTime;
  }

  /** Of every write, while the clock here is wrong. */
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
