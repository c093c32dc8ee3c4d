import type { Clock } from '../base/clock.ts';
import { clockDifferenceMsMax } from '../limits/log.ts';
import type { EventLog } from '../log/log.ts';

/**
 * Compares this node's clock with the log's clock, which all nodes share, if the log has one (consistency protocol, 8).
 * A node with a wrong clock refuses writes, since all later events would take over its time.
 */
export class ClockAgreement {
  readonly #clock: Clock;
  readonly #log: Pick<EventLog, 'time'>;

  constructor(clock: Clock, log: Pick<EventLog, 'time'> = {}) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The reference time in epoch milliseconds: the log's time, or this node's if the log has no clock. */
  reference(): number {
    return this.#log.time?.() ?? this.#clock.now();
  }

  /** The latest acceptable time of an event. */
  latest(): number {
    return this.reference() + clockDifferenceMsMax;
  }

  /** The reason why this node refuses writes; undefined while its clock is correct. */
  problem(): string | undefined {
    const aheadMs = this.#clock.now() - this.reference();
    if (Math.abs(aheadMs) <= clockDifferenceMsMax) return undefined;
    const seconds = `${String(Math.round(Math.abs(aheadMs) / 1_000))} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
    return `the clock of this server is ${seconds} the event log's: it accepts no writes until its clock is corrected`;
  }
}
