import type { Slices } from '../../base/slices.ts';
import {
  auditFoundEventsMax,
  auditIndexStepsMax,
  auditPageBytesMax,
  auditReadBytesMax,
  auditReadsAtOnceMax,
  auditScannedEventsMax,
} from '../../limits/audit.ts';
import {
  isPermanentReadError,
  logPosition,
  logStart,
  type EventLog,
  type LogPosition,
  type RecordedEvent,
} from '../../log/log.ts';
import type { EventIndex, EventWalk } from '../../read/event-index.ts';
import type { EventSelection } from './event-selection.ts';

export type EventsRequest = {
  readonly order: 'oldest' | 'newest';
  /** The first position to read. There may be no event at this position. */
  readonly from: LogPosition;
  /** The last position to read, in the requested order. */
  readonly until: LogPosition;
  /** The newest position that any page of the list may show. */
  readonly head: LogPosition;
  readonly limit: number;
  readonly selection: EventSelection;
  /** Returns an event as JSON. */
  readonly show: (event: RecordedEvent) => Promise<Buffer>;
};

export type EventsPage = {
  readonly items: readonly Buffer[];
  /** The position at which the next page begins; undefined for the last page. */
  readonly next: LogPosition | undefined;
};

export type EventsSource = {
  readonly log: Pick<EventLog, 'readAll' | 'readAllBackward' | 'readAt'>;
  readonly index: EventIndex;
  /** The categories of streams that the audit stream shows. */
  readonly categories: readonly string[];
};

/** The log cannot be read now, or lacks an event that this node has folded. */
export class UnreadableEventsError extends Error {
  constructor(options?: ErrorOptions) {
    super('the events of the log cannot be read now', options);
    this.name = 'UnreadableEventsError';
  }
}

/** Splits long work into slices, between which other work runs. */
type Pace = Pick<Slices, 'isOver' | 'next'>;

/**
 * Returns one page of the events of the whole log. If the index can check a condition, the index finds the positions to
 * read; otherwise all events are read in order. A page may be empty although a next page exists.
 *
 * @throws UnreadableEventsError if the log cannot be read, or does not yet return an event that this node has folded.
 */
export async function readEvents(source: EventsSource, request: EventsRequest, pace: Pace): Promise<EventsPage> {
  await pace.next();
  const page = new Page(source, request, pace);
  const clauses = request.selection.clauses();
  if (request.head === logStart || isBehind(request, request.from)) return page.end(undefined);
  const { order, head } = request;
  const walk = clauses.length === 0 ? undefined : source.index.walk(clauses, { order, head });
  return walk === undefined ? page.scan() : page.visit(walk);
}

type Places = {
  readonly places: readonly LogPosition[];
  readonly next: LogPosition | undefined;
};

class Page {
  readonly #source: EventsSource;
  readonly #request: EventsRequest;
  readonly #pace: Pace;
  readonly #items: Buffer[] = [];
  /** The number of steps that this page has taken through the index. */
  #steps = 0;
  #events = 0;
  #bytesRead = 0;
  #bytes = 0;

  constructor(source: EventsSource, request: EventsRequest, pace: Pace) {
    this.#source = source;
    this.#request = request;
    this.#pace = pace;
  }

  end(next: LogPosition | undefined): EventsPage {
    return { items: this.#items, next };
  }

  /** Reads the events of the log one after another. */
  async scan(): Promise<EventsPage> {
    for await (const batch of this.#batches()) {
      for (const event of batch) {
        if (isBehind(this.#request, event.position)) return this.end(undefined);
        if (!isReached(this.#request, event.position)) continue;
        await this.#take(event);
        if (this.#isFull(auditScannedEventsMax)) return this.end(this.#after(event.position));
      }
      await this.#pace.next();
    }
    return this.end(undefined);
  }

  /** Reads the events that the index finds. */
  async visit(walk: EventWalk): Promise<EventsPage> {
    let from: LogPosition | undefined = this.#request.from;
    while (from !== undefined && this.#steps < auditIndexStepsMax) {
      const { places, next } = await this.#places(walk, from);
      for (const event of await this.#readAt(places)) {
        await this.#take(event);
        if (this.#isFull(auditFoundEventsMax)) return this.end(this.#after(event.position));
      }
      from = next;
    }
    return this.end(from);
  }

  /** Returns the positions to read at once, and the position at which the walk continues. */
  async #places(walk: EventWalk, begin: LogPosition): Promise<Places> {
    const places: LogPosition[] = [];
    let from = begin;
    while (places.length < this.#readsAtOnce() && this.#steps < auditIndexStepsMax) {
      this.#steps += 1;
      const step = walk.step(from);
      if (step === undefined || isBehind(this.#request, step.at)) return { places, next: undefined };
      if (step.found) places.push(step.at);
      const next = step.found ? this.#after(step.at) : step.at;
      if (next === undefined) return { places, next };
      from = next;
      if (this.#pace.isOver()) await this.#pace.next();
    }
    return { places, next: from };
  }

  /** Returns the number of events to read at once, at most as many as the page still needs. */
  #readsAtOnce(): number {
    return Math.min(auditReadsAtOnceMax, this.#request.limit - this.#items.length);
  }

  async #readAt(places: readonly LogPosition[]): Promise<readonly RecordedEvent[]> {
    try {
      const events = await Promise.all(places.map(async (place) => this.#source.log.readAt(place)));
      const present = events.filter((event) => event !== undefined);
      if (present.length === events.length) return present;
    } catch (cause) {
      throw isPermanentReadError(cause) ? cause : new UnreadableEventsError({ cause });
    }
    throw new UnreadableEventsError();
  }

  async #take(event: RecordedEvent): Promise<void> {
    this.#events += 1;
    this.#bytesRead += event.data.length + event.metadata.length;
    if (this.#request.selection.matches(event)) {
      const item = await this.#request.show(event);
      this.#items.push(item);
      this.#bytes += item.length;
    }
    if (this.#pace.isOver()) await this.#pace.next();
  }

  #isFull(eventsMax: number): boolean {
    return (
      this.#items.length >= this.#request.limit ||
      this.#bytes >= auditPageBytesMax ||
      this.#events >= eventsMax ||
      this.#bytesRead >= auditReadBytesMax
    );
  }

  /** Returns the next position in the requested order; undefined after the last requested position. */
  #after(position: LogPosition): LogPosition | undefined {
    const next = logPosition(position + (this.#request.order === 'oldest' ? 1n : -1n));
    return isBehind(this.#request, next) ? undefined : next;
  }

  /**
   * Reads the events in the requested order. A log may refuse a position at which no event starts, so the read starts
   * at the position of an existing event.
   */
  async *#batches(): AsyncGenerator<readonly RecordedEvent[]> {
    const { log, index, categories } = this.#source;
    const { order, from, head } = this.#request;
    const turn = async (): Promise<void> => this.#pace.next();
    const batches =
      order === 'oldest'
        ? log.readAll({ after: index.before(from) ?? logStart, until: head, categories, turn })
        : log.readAllBackward({ ...beforeOf(index.after(from)), categories, turn });
    try {
      yield* batches;
    } catch (cause) {
      throw isPermanentReadError(cause) ? cause : new UnreadableEventsError({ cause });
    }
  }
}

function beforeOf(before: LogPosition | undefined): { readonly before?: LogPosition } {
  return before === undefined ? {} : { before };
}

/** Returns whether a position comes after the last requested position, in the requested order. */
function isBehind({ order, until }: EventsRequest, place: LogPosition): boolean {
  return order === 'oldest' ? place > until : place < until;
}

/** Returns whether a position is not before the first requested position, in the requested order. */
function isReached({ order, from }: EventsRequest, place: LogPosition): boolean {
  return order === 'oldest' ? place >= from : place <= from;
}
