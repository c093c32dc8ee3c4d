import { watchRememberedStreamsMax } from '../limits/watches.ts';
import { decodeEvent, isObjectEvent, objectAnswer } from '../log/event-codec.ts';
import {
  LogCorruptError,
  streamRevision,
  type EventLog,
  type LogPosition,
  type RecordedEvent,
  type StreamName,
} from '../log/log.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { currentAnswer, currentObject } from '../resource/type/versions/shown-version.ts';
import { entryOfFact } from '../resource/type/index-definition.ts';
import { matches } from '../resource/query/selection-match.ts';
import type { WatchEvent } from './frame.ts';
import { LogSilentError } from './log-silent-error.ts';
import { transition } from './selected-change.ts';
import { selectsAll, type WatchPlan } from './watch-plan.ts';

/** Defines how a hub reads the changes that a watch has missed. */
export type LoggedSource = {
  /** The categories of the streams that contain these changes. */
  readonly categories: readonly string[];
  readonly of: (log: Pick<EventLog, 'readStream'>, plan: WatchPlan) => LoggedReader;
};

/** Converts recorded events to the events of one watch, as the feed would have published the events. */
export type LoggedReader = {
  /** Returns whether the event may belong to the watch, without decoding the event. */
  concerns(recorded: RecordedEvent): boolean;
  /** Returns the watch event; undefined if the watch does not select the recorded event. */
  shown(recorded: RecordedEvent): WatchEvent | undefined | Promise<WatchEvent | undefined>;
};

/** Reads the changes of objects. */
export const loggedObjects: LoggedSource = {
  categories: ['object'],
  of: (log, plan) => new LoggedEvents(log, plan),
};

/** Converts recorded object events to the events of a watch with `plan`. */
export class LoggedEvents implements LoggedReader {
  readonly #log: Pick<EventLog, 'readStream'>;
  readonly #plan: WatchPlan;
  readonly #preferred: ResourceType;
  readonly #everything: boolean;
  readonly #prefix: string;
  /**
   * Whether the object was selected after the last converted event, by stream. The oldest entries are dropped. For a
   * stream without an entry, the previous event is read from the log.
   */
  readonly #selected = new Map<StreamName, boolean>();

  constructor(log: Pick<EventLog, 'readStream'>, plan: WatchPlan) {
    this.#log = log;
    this.#plan = plan;
    this.#preferred = plan.type.preferred ?? plan.type;
    this.#everything = selectsAll(plan.selection);
    this.#prefix = `object:${plan.type.key}/${plan.name ?? ''}`;
  }

  concerns({ stream }: RecordedEvent): boolean {
    return this.#plan.name === undefined ? stream.startsWith(this.#prefix) : stream === this.#prefix;
  }

  /**
   * Returns the watch event; undefined if the watch does not select the recorded event. Returns a promise if the
   * previous state must be read from the log.
   */
  shown(recorded: RecordedEvent): WatchEvent | undefined | Promise<WatchEvent | undefined> {
    if (this.#everything) return this.#plain(recorded);
    const before = this.#selected.get(recorded.stream);
    if (before !== undefined || isFirst(recorded)) return this.#show(recorded, before ?? false);
    return this.#wasSelected(recorded).then((was) => this.#show(recorded, was));
  }

  #plain(recorded: RecordedEvent): WatchEvent | undefined {
    const object = this.#answer(recorded, recorded.position);
    return object === undefined ? undefined : { type: plainType(recorded), object, position: recorded.position };
  }

  #show(recorded: RecordedEvent, was: boolean): WatchEvent | undefined | Promise<WatchEvent | undefined> {
    const is = this.#isSelected(recorded);
    this.#remember(recorded.stream, is);
    const type = transition(was, is);
    if (type === undefined) return undefined;
    if (type === 'DELETED' && recorded.type !== 'ObjectDeleted') return this.#left(recorded);
    const object = this.#answer(recorded, recorded.position);
    return object === undefined ? undefined : { type, object, position: recorded.position };
  }

  /** Returns the last selected state of the object, with the position of the event that ends the selection. */
  async #left(recorded: RecordedEvent): Promise<WatchEvent | undefined> {
    const object = this.#answer(await this.#previous(recorded), recorded.position);
    return object === undefined ? undefined : { type: 'DELETED', object, position: recorded.position };
  }

  async #wasSelected(recorded: RecordedEvent): Promise<boolean> {
    return this.#isSelected(await this.#previous(recorded));
  }

  async #previous({ stream, revision, id }: RecordedEvent): Promise<RecordedEvent> {
    const [previous] = await this.#log.readStream(stream, { from: streamRevision(revision - 1), limit: 1 });
    if (previous?.revision === revision - 1) return previous;
    if (previous !== undefined)
      throw new LogCorruptError(`${stream} has event ${id} at revision ${String(revision)} but no previous event`);
    // A deposed leader may return data that is older than the event.
    throw new LogSilentError(`the event log returned old data of ${stream}`);
  }

  #isSelected(recorded: RecordedEvent): boolean {
    const { event } = decodeEvent(recorded);
    if (!isObjectEvent(event) || event.object === undefined || event.type === 'ObjectDeleted') return false;
    return matches(
      this.#plan.selection,
      entryOfFact(this.#preferred.indexes, currentObject(event.object, this.#preferred)),
    );
  }

  /**
   * Returns the JSON of the event's object, in the form in which the fold stores it; undefined for an event without an
   * object.
   */
  #answer(recorded: RecordedEvent, at: LogPosition): Uint8Array | undefined {
    const answer = objectAnswer(recorded, at);
    return answer && currentAnswer(answer, this.#preferred);
  }

  #remember(stream: StreamName, selected: boolean): void {
    if (this.#selected.size >= watchRememberedStreamsMax && !this.#selected.has(stream)) {
      for (const oldest of this.#selected.keys()) {
        this.#selected.delete(oldest);
        break;
      }
    }
    this.#selected.set(stream, selected);
  }
}

/** Returns whether no object exists before the event. */
function isFirst(recorded: RecordedEvent): boolean {
  return recorded.type === 'ObjectCreated' || recorded.revision === 0;
}

function plainType(recorded: RecordedEvent): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (recorded.type === 'ObjectDeleted') return 'DELETED';
  return isFirst(recorded) ? 'ADDED' : 'MODIFIED';
}
