import type { Clock } from '../base/clock.ts';
import { clockDifferenceMsMax } from '../limits/log.ts';
import type { EventLog } from '../log/log.ts';

/**
 * What this node's clock is compared with: the log's, which all nodes share, where it has one (consistency protocol, 8). A node
 * whose clock is wrong writes nothing, as all later events would follow its time.
 */
export class ClockAgreement {
  readonly #clock: Clock;
  readonly #log: Pick<EventLog, 'time'>;

  constructor(clock: Clock, log: Pick<EventLog, 'time'> = {}) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Epoch milliseconds: the log's time, or this node's where there is no other. */
  reference(): number {
    return this.#log.time?.() ?? this.#clock.now();
  }

  /** The latest time that a stamp may say and still count. */
  latest(): number {
    return this.reference() + clockDifferenceMsMax;
  }

  /** Why this node must not write; undefined while it may. */
  problem(): string | undefined {
    const aheadMs = this.#clock.now() - this.reference();
    if (Math.abs(aheadMs) <= clockDifferenceMsMax) return undefined;
    const seconds = `${String(Math.round(Math.abs(aheadMs) / 1_000))} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
    return `the clock of this server is ${seconds} the event log's: it accepts no writes until its clock is corrected`;
  }
}
