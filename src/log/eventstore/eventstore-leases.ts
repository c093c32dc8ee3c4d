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
 * Limits the length of lease streams, because only the last event of a lease is in force. Reads the server's time from
 * renewals while this time is unknown, or differs too much from the node's clock.
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
    // A failure is ignored, because the limit only saves space.
    this.#context.appender.keepLast(driverStream(this.#context.prefix, stream), leaseEventsMax).catch(() => undefined);
  }

  /**
   * Reads the time at which EventStoreDB wrote a renewal. A node with a wrong clock thus detects when its clock is
   * correct again.
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
