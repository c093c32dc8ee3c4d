import { stampOf } from '../src/log/event-codec.ts';
import type { RecordedEvent } from '../src/log/log.ts';

const stampForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;
const none = '1970-01-01T00:00:00.000Z';

/**
 * The latest time of all folded events. A time that is too far in the future comes from a wrong clock. Such a time is
 * ignored, because otherwise all later events would get that time (consistency protocol, 8).
 */
export class EventTimes {
  readonly #latest: () => number;
  #last: string;
  #lastMs: number;
  #stray: string | undefined;

  /** `latest`: returns the latest acceptable time now, in epoch milliseconds. */
  constructor(lastMs: number, latest: () => number) {
    this.#latest = latest;
    this.#lastMs = lastMs;
    this.#last = new Date(lastMs).toISOString();
  }

  /**
   * Returns the latest time in epoch milliseconds. Returns 0 if this time is too far in the future now, because it was
   * accepted while this node's clock was wrong.
   */
  lastMs(): number {
    return this.#lastMs > this.#latest() ? 0 : this.#lastMs;
  }

  strayMs(): number | undefined {
    return this.#stray === undefined ? undefined : Date.parse(this.#stray);
  }

  begin(): BatchTimes {
    const latest = new Date(this.#latest()).toISOString();
    return this.#last > latest ? new BatchTimes(none, latest, this.#last) : new BatchTimes(this.#last, latest);
  }

  keep(batch: BatchTimes): void {
    this.#stray = batch.stray;
    if (batch.last === this.#last) return;
    this.#lastMs = batch.latestMs();
    this.#last = batch.last;
  }
}

/** The times of one batch of events. `EventTimes.keep` applies them after the commit of the batch. */
class BatchTimes {
  last: string;
  stray: string | undefined;
  readonly #latest: string;

  constructor(last: string, latest: string, stray?: string) {
    this.last = last;
    this.stray = stray;
    this.#latest = latest;
  }

  /**
   * Takes the time of an event into account. Ignores times in another format than `stampForm`. This program writes only
   * times in the format of `stampForm`, and they sort as strings.
   */
  take(recorded: RecordedEvent): void {
    const stamp = stampOf(recorded);
    if (stamp <= this.last || !stampForm.test(stamp)) return;
    if (stamp <= this.#latest) this.last = stamp;
    else if (stamp > (this.stray ?? '')) this.stray = stamp;
  }

  latestMs(): number {
    return Date.parse(this.last);
  }
}
