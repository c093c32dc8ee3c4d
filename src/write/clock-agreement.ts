import type { Clock } from '../base/clock.ts';
import { clockDifferenceMsMax } from '../limits/log.ts';
import type { EventLog } from '../log/log.ts';

/**
 * Compares this node's clock with the clock of the log, which all nodes share (docs/spec/consistency.md, 8). A node
 * with a wrong clock refuses writes. Otherwise the wrong time would spread to later events of all nodes, because the
 * times of events never decrease.
 */
export class ClockAgreement {
  readonly #clock: Clock;
  readonly #log: Pick<EventLog, 'time'>;

  constructor(clock: Clock, log: Pick<EventLog, 'time'> = {}) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Returns the log's time in epoch milliseconds; the time of this node if the log's time is unknown. */
  reference(): number {
    return this.#log.time?.() ?? this.#clock.now();
  }

  /** Returns the latest acceptable time of an event, in epoch milliseconds. */
  latest(): number {
    return this.reference() + clockDifferenceMsMax;
  }

  /**
   * Returns the reason why this node refuses writes; undefined if the clocks agree, or if the log's time is unknown.
   */
  problem(): string | undefined {
    const aheadMs = this.#clock.now() - this.reference();
    if (Math.abs(aheadMs) <= clockDifferenceMsMax) return undefined;
    const seconds = `${String(Math.round(Math.abs(aheadMs) / 1_000))} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
    return `the clock of this server is ${seconds} the event log's clock: writes are refused until the clocks agree`;
  }
}
