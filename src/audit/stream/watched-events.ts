import type { CausingEvent } from '../../command/event.ts';
import { correlationIn } from '../../log/event-codec.ts';
import { logStart, type EventLog, type LogPosition, type RecordedEvent } from '../../log/log.ts';
import type { Change, ChangeBatch, ListedObjects, Wanted } from '../../read/objects.ts';
import type { ListQuery } from '../../resource/query/list-query.ts';
import type { IndexEntry } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { WatchEvent } from '../../watch/frame.ts';
import type { LoggedReader, LoggedSource } from '../../watch/logged-events.ts';
import { membersAlone, shownEvent } from './event-item.ts';
import { EventSelection } from './event-selection.ts';
import { FieldKeys } from './event-type.ts';
import { EventValues } from './event-fields.ts';

/** An event of the log as a change of a watch: an added object, which never changes. Members are computed on demand. */
class EventChange implements Change {
  readonly kind = 'added';
  readonly before = undefined;
  readonly previousBytes = undefined;
  readonly deletionRequested = false;
  readonly finalizers = false;
  readonly after: IndexEntry;
  readonly #event: RecordedEvent;
  readonly #type: ResourceType;
  #bytes: Uint8Array | undefined;

  constructor(event: RecordedEvent, type: ResourceType) {
    this.#event = event;
    this.#type = type;
    this.after = new FieldKeys(new EventValues(event));
  }

  get type(): Change['type'] {
    return this.#type.key;
  }

  get name(): string {
    return this.#event.position.toString();
  }

  get position(): LogPosition {
    return this.#event.position;
  }

  get revision(): Change['revision'] {
    return this.#event.revision;
  }

  get cause(): CausingEvent {
    return { id: this.#event.id, correlationId: correlationIn(this.#event) };
  }

  get bytes(): Uint8Array {
    return (this.#bytes ??= shownEvent(this.#event, this.#type.apiVersion, membersAlone));
  }
}

/** Returns the events of one commit as changes for watchers. */
export function changesOf(batch: readonly RecordedEvent[], type: ResourceType): ChangeBatch {
  return {
    changes: batch.map((event) => new EventChange(event, type)),
    position: batch.at(-1)?.position ?? logStart,
  };
}

/**
 * Returns the source from which watches of events read missed events. `categories` are the categories of streams in the
 * audit stream.
 */
export function loggedEvents(categories: readonly string[]): LoggedSource {
  return { categories, of: (_log, { type, selection }) => new EventsOfLog(type, new EventSelection(selection.fields)) };
}

class EventsOfLog implements LoggedReader {
  readonly #type: ResourceType;
  readonly #selection: EventSelection;

  constructor(type: ResourceType, selection: EventSelection) {
    this.#type = type;
    this.#selection = selection;
  }

  /** Returns true for each event, because `shown` checks the conditions later, in slices. */
  concerns(): boolean {
    return true;
  }

  shown(event: RecordedEvent): WatchEvent | undefined {
    if (!this.#selection.matches(event)) return undefined;
    const { apiVersion } = this.#type;
    return {
      type: 'ADDED',
      object: shownEvent(event, apiVersion, membersAlone),
      position: event.position,
    };
  }
}

/** The number of bytes read, and of events encoded, after which the initial events are sent to the watcher. */
const readTogetherBytes = 1_048_576;
const shownTogetherMax = 64;

/** Returns the events up to a position as the initial state of a watch with `sendInitialEvents`. */
export function eventsUpTo(
  position: LogPosition,
  { selection }: ListQuery,
  {
    log,
    type,
    categories,
    wanted,
    turn,
  }: {
    readonly log: Pick<EventLog, 'readAll'>;
    readonly type: ResourceType;
    readonly categories: readonly string[];
    readonly wanted: Wanted | undefined;
    /** Resolves when the next batch of the log may be read. */
    readonly turn: () => Promise<void>;
  },
): ListedObjects {
  const selected = new EventSelection(selection.fields);
  async function* batches(): AsyncGenerator<readonly Uint8Array[]> {
    let shown: Uint8Array[] = [];
    let read = 0;
    for await (const batch of log.readAll({ after: logStart, until: position, categories, turn })) {
      for (const event of batch) {
        if (selected.matches(event)) shown.push(shownEvent(event, type.apiVersion, membersAlone));
        read += event.data.length;
        if (read < readTogetherBytes && shown.length < shownTogetherMax) continue;
        wanted?.throwIfAborted();
        yield shown;
        [shown, read] = [[], 0];
      }
    }
    yield shown;
  }
  return { position, total: 0, batches: batches() };
}
