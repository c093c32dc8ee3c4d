import type { Clock } from '../../base/clock.ts';
import { clockDifferenceMsMax } from '../../limits/log.ts';
import type { Appender } from './eventstore-appender.ts';
import { leaseEventsMax } from './eventstore-limits.ts';
import type { Reads } from './eventstore-reads.ts';
import { driverStream } from './eventstore-record.ts';
import type { ServerTime } from './eventstore-time.ts';
import type { ProposedEvent, StreamName } from '../log.ts';

type LeasesContext = {
  readonly prefix: string;
  readonly appender: Appender;
  readonly clock: Clock;
  readonly reads: Reads;
  readonly time: ServerTime;
};

type Renewal = {
  readonly stream: StreamName;
  readonly events: readonly ProposedEvent[];
  readonly sentMs: number;
};

/**
 * Limits the length of lease streams, since only the last event of a lease is in force. If EventStoreDB's time is
 * unknown, or differs too much from the node's clock, reads this time from each renewal of a lease.
 */
export class Leases {
  readonly #context: LeasesContext;
  readonly #kept = new Set<StreamName>();

  constructor(context: LeasesContext) {
    this.#context = context;
  }

  renewed(renewal: Renewal): void {
    this.#keepLast(renewal.stream);
    const { clock, time } = this.#context;
    const known = time.now();
    if (known === undefined || Math.abs(clock.now() - known) > clockDifferenceMsMax) this.#readBack(renewal);
  }

  #keepLast(stream: StreamName): void {
    if (this.#kept.has(stream)) return;
    this.#kept.add(stream);
    // A failure is ignored: the limit only saves space, and the next process tries again.
    this.#context.appender.keepLast(driverStream(this.#context.prefix, stream), leaseEventsMax).catch(() => undefined);
  }

  /**
   * Reads the time at which EventStoreDB wrote a renewal. A node with a wrong clock writes only leases. From the times
   * of its leases, the node detects when its clock is correct again.
   */
  #readBack({ stream, events, sentMs }: Renewal): void {
    const { reads, time } = this.#context;
    reads.lastCreated(stream).then(
      (last) => {
        if (last !== undefined && last.event.id === events.at(-1)?.id) time.own(last.createdMs, sentMs);
      },
      () => undefined,
    );
  }
}
