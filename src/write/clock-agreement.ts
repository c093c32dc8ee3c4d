import type { Clock } from '../base/clock.ts';
import { clockDifferenceMsMax } from '../limits/log.ts';
import type { EventLog } from '../log/log.ts';

/**
 * Compares this node's clock with the clock of the log, which all nodes share, if the log has a clock (consistency
 * protocol, 8). A node with a wrong clock refuses writes. Otherwise events of other nodes could adopt its wrong time,
 * because the time of an event is not earlier than the times of previous events.
 */
export class ClockAgreement {
  readonly #clock: Clock;
  readonly #log: Pick<EventLog, 'time'>;

  constructor(clock: Clock, log: Pick<EventLog, 'time'> = {}) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The reference time in epoch milliseconds: the time of the log if it is known, otherwise the time of this node. */
  reference(): number {
    return this.#log.time?.() ?? this.#clock.now();
  }

  /** The latest acceptable time of an event. */
  latest(): number {
    return this.reference() + clockDifferenceMsMax;
  }

  /**
   * Returns the reason why this node refuses writes. Undefined if its clock is close to the log's clock, or if the time
   * of the log is unknown.
   */
  problem(): string | undefined {
    const aheadMs = this.#clock.now() - this.reference();
    if (Math.abs(aheadMs) <= clockDifferenceMsMax) return undefined;
    const seconds = `${String(Math.round(Math.abs(aheadMs) / 1_000))} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
    return `the clock of this server is ${seconds} the event log's clock: writes are refused until the clocks agree`;
  }
}
