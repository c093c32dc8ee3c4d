import type { Clock } from '../base/clock.ts';
import { ClockAgreement } from './clock-agreement.ts';
import { wrongClock, type Refusal } from './refusals.ts';

export type EventStampsDependencies = {
  readonly clock: Clock;
  /** Returns the latest time of a folded event, in epoch milliseconds. */
  readonly lastEventTime: () => number;
  /** Compares this node's clock with the log's clock. If undefined, this node's clock is the reference. */
  readonly agreement?: ClockAgreement;
};

/**
 * Assigns times to events. The time of a new event is not earlier than the times of folded events. Times too far ahead
 * of the reference time are ignored, so that later events do not inherit a wrong time (docs/spec/consistency.md, 8).
 */
export class EventStamps {
  readonly #clock: Clock;
  readonly #agreement: ClockAgreement;
  readonly #lastEventTime: () => number;
  /** The last assigned time, in epoch milliseconds. */
  #last = 0;
  #lastText = '';

  constructor({ clock, lastEventTime, agreement = new ClockAgreement(clock) }: EventStampsDependencies) {
    this.#clock = clock;
    this.#agreement = agreement;
    this.#lastEventTime = lastEventTime;
  }

  /** Returns the refusal of all writes while this node's clock is wrong; undefined otherwise. */
  refusal(): Refusal | undefined {
    const problem = this.#agreement.problem();
    return problem === undefined ? undefined : wrongClock(problem);
  }

  next(): string {
    const latest = this.#agreement.latest();
    const folded = this.#lastEventTime();
    const next = Math.max(this.#clock.now(), atMost(this.#last, latest), atMost(folded, latest));
    // Writes of the same millisecond share one text.
    if (next !== this.#last || this.#lastText === '') this.#lastText = new Date(next).toISOString();
    this.#last = next;
    return this.#lastText;
  }
}

/** The time, or 0 if it is later than `latest`. */
function atMost(time: number, latest: number): number {
  return time <= latest ? time : 0;
}
