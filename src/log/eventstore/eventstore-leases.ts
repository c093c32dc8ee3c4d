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

/** What is done beside the appends to a lease's stream, of which only the last event counts. */
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
    // It fails where it was done before. Otherwise the next process tries again: nothing but space hangs on it.
    this.#context.appender.keepLast(driverStream(this.#context.prefix, stream), leaseEventsMax).catch(() => undefined);
  }

  /** A node whose clock seems wrong writes nothing but leases: these say so of a leader that starts, and that it is over. */
  #readBack({ stream, events, sentMs }: Renewal): void {
    const { reads, time } = this.#context;
    reads.lastCreated(stream).then((last) => {
      if (last !== undefined && last.event.id === events.at(-1)?.id) time.own(last.createdMs, sentMs);
    }, () => undefined);
  }
}
