import { inSlices, type Steps } from '../base/steps.ts';
import type { Slices } from '../base/slices.ts';
import { historyPageBytesMax, historyReadBytesMax, historyReadEventsMax } from '../limits/audit.ts';
import type { StreamRevision, RecordedEvent } from '../log/log.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { EventObjects, historyEntry } from './history-entry.ts';
import { eventPairs, type EventPair, type HistoryLog, type HistoryRange } from './event-pairs.ts';

export type HistoryRequest = HistoryRange & {
  /** Selects the object with this uid, among all objects that have or had the name; undefined selects all. */
  readonly uid: string | undefined;
  /** Whether each entry contains the object after the event. */
  readonly withObjects: boolean;
  /**
   * The type, in the version in which the objects are shown. If undefined, each object has the version in its event.
   */
  readonly type?: ResourceType | undefined;
};

export type HistoryPage = {
  /** The entries, each as JSON. */
  readonly entries: readonly Buffer[];
  /** The revision at which the next page begins; undefined for the last page. */
  readonly next: StreamRevision | undefined;
};

/** Splits long work into slices, between which other work runs. */
export type Pace = Pick<Slices, 'isOver' | 'next'>;

/**
 * Returns one page of the events of all objects that have or had a name. A page ends early after `historyReadEventsMax`
 * events or `historyReadBytesMax` bytes read, or `historyPageBytesMax` bytes of entries. A page may be empty although a
 * next page exists.
 *
 * @throws UnreadableHistoryError if the log cannot be read, or lacks an event that this node has folded.
 */
export async function readHistory(log: HistoryLog, request: HistoryRequest, pace: Pace): Promise<HistoryPage> {
  // Many requests may begin in one turn of the event loop.
  await pace.next();
  const page = new Page(request);
  for await (const pair of eventPairs(log, request)) {
    if (page.isFull()) return { entries: page.entries, next: pair.event.revision };
    const goesOn = await inSlices(page.add(pair), pace);
    if (!goesOn) break;
    if (pace.isOver()) await pace.next();
  }
  return { entries: page.entries, next: undefined };
}

class Page {
  readonly entries: Buffer[] = [];
  readonly #request: HistoryRequest;
  readonly #objects: EventObjects;
  readonly #lives: Lives;
  #found = false;
  #events = 0;
  #bytesRead = 0;
  #bytes = 0;

  constructor(request: HistoryRequest) {
    this.#request = request;
    this.#objects = new EventObjects(request.type);
    this.#lives = new Lives(request.order, this.#objects);
  }

  isFull(): boolean {
    return (
      this.entries.length >= this.#request.limit ||
      this.#bytes >= historyPageBytesMax ||
      this.#events >= historyReadEventsMax ||
      this.#bytesRead >= historyReadBytesMax
    );
  }

  /** Adds an entry if the event belongs to the page. Returns false if no later event can belong to the page. */
  *add(pair: EventPair): Steps<boolean> {
    const { event } = pair;
    this.#events += 1;
    this.#bytesRead += event.data.length + event.metadata.length;
    const { uid: wanted, withObjects } = this.#request;
    const uid = this.#lives.uidOf(event);
    if (uid === undefined) return true;
    if (wanted !== undefined && uid !== wanted) return !this.#found;
    this.#found = true;
    const entry = yield* historyEntry(pair, { objects: this.#objects, withObject: withObjects });
    if (entry === undefined) return true;
    this.#bytes += entry.length;
    this.entries.push(entry);
    return true;
  }
}

/** Finds the uid of the object of each event in a stream. Decodes one event for each object. */
class Lives {
  readonly #order: HistoryRange['order'];
  readonly #objects: EventObjects;
  #uid: string | undefined;

  constructor(order: HistoryRange['order'], objects: EventObjects) {
    this.#order = order;
    this.#objects = objects;
  }

  /**
   * Returns the uid of the object that has the name after the event; undefined without an object, for example at a
   * fence.
   */
  uidOf(event: RecordedEvent): string | undefined {
    const [first, last] =
      this.#order === 'oldest' ? ['ObjectCreated', 'ObjectDeleted'] : ['ObjectDeleted', 'ObjectCreated'];
    if (event.type === first) this.#uid = undefined;
    const uid = (this.#uid ??= this.#objects.of(event)?.metadata.uid);
    if (event.type === last) this.#uid = undefined;
    return uid;
  }
}
