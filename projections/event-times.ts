import { stampOf } from '../src/log/event-codec.ts';
import type { RecordedEvent } from '../src/log/log.ts';

const stampForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;
const none = '1970-01-01T00:00:00.000Z';

/**
 * The latest time of the folded events. Ignores a time that is too far in the future, because a wrong clock would
 * otherwise set the time of all later events (docs/spec/consistency.md, 8).
 */
export class EventTimes {
  readonly #latest: () => number;
  #last: string;
  #lastMs: number;
  #stray: string | undefined;

  /** `latest` returns the latest time that is acceptable now, in epoch milliseconds. */
  constructor(lastMs: number, latest: () => number) {
    this.#latest = latest;
    this.#lastMs = lastMs;
    this.#last = new Date(lastMs).toISOString();
  }

  /**
   * The latest time in epoch milliseconds. Returns 0 if this node accepted the time under a wrong clock, and the time
   * is now too far in the future.
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

/** The times of one batch of events. `EventTimes.keep` applies the times after the commit. */
class BatchTimes {
  last: string;
  stray: string | undefined;
  readonly #latest: string;

  constructor(last: string, latest: string, stray?: string) {
    this.last = last;
    this.stray = stray;
    this.#latest = latest;
  }

  /** Ignores a time that is not in the format of `stampForm`, because times are compared as strings. */
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
