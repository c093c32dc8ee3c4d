import type { Clock } from '../base/clock.ts';
import { clockDifferenceMsMax } from '../limits/log.ts';
import type { EventLog } from '../log/log.ts';

/**
 * Compares this node's clock with the clock of the log, which all nodes share, if the log has a clock (consistency
 * protocol, 8). A node with a wrong clock refuses writes. No event has an earlier time than the event before it, so
 * later events of all nodes would adopt the wrong time.
 */
export class ClockAgreement {
  readonly #clock: Clock;
  readonly #log: Pick<EventLog, 'time'>;

  constructor(clock: Clock, log: Pick<EventLog, 'time'> = {}) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * The reference time in epoch milliseconds: the time of the log, or the time of this node if the log has no clock.
   */
  reference(): number {
    return this.#log.time?.() ?? this.#clock.now();
  }

  /** The latest acceptable time of an event. */
  latest(): number {
    return this.reference() + clockDifferenceMsMax;
  }

  /** Returns the reason why this node refuses writes; undefined if its clock is correct. */
  problem(): string | undefined {
    const aheadMs = this.#clock.now() - this.reference();
    if (Math.abs(aheadMs) <= clockDifferenceMsMax) return undefined;
    const seconds = `${String(Math.round(Math.abs(aheadMs) / 1_000))} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
    return `the clock of this server is ${seconds} the event log's clock: writes are refused until the clocks agree`;
  }
}
