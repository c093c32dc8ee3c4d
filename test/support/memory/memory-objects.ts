import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../../../src/base/clock.ts';
import type { ObjectEvent } from '../../../src/command/event.ts';
import {
  answerBytes,
  correlationIn,
  requestIn,
  decodeEvent,
  encodeEvent,
  isObjectEvent,
} from '../../../src/log/event-codec.ts';
import {
  isOfEpoch,
  logStart,
  streamName,
  type EventLog,
  type LogPosition,
  type RecordedEvent,
  type StreamRevision,
} from '../../../src/log/log.ts';
import type {
  Change,
  ChangeBatch,
  ChangeFeed,
  ListedObjects,
  ListPage,
  ObjectReader,
  StoredObject,
  StreamHead,
} from '../../../src/read/objects.ts';
import { entryOf } from '../../../src/resource/type/index-definition.ts';
import { SnapshotSlots } from '../../../src/read/snapshot-slots.ts';
import type { IndexEntry, TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { ListQuery, Selection } from '../../../src/resource/query/list-query.ts';
import { matches } from '../../../src/resource/query/selection-match.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { idOf } from '../id-of.ts';
import { widget, type WidgetContent } from '../watched-type.ts';

type Row = StoredObject & { readonly entry: IndexEntry };

/**
 * The object read model in memory: a map that is folded from a log. It publishes an event in the turn in which it folds
 * the event.
 */
export class MemoryObjects implements ObjectReader, ChangeFeed {
  readonly snapshots: SnapshotSlots;
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #types: ReadonlyMap<TypeKey, ResourceType>;
  readonly #rows = new Map<string, Row>();
  readonly #deleted = new Map<string, StreamRevision>();
  readonly #listeners = new Set<(batch: ChangeBatch) => void>();
  readonly #waiting = new Set<{
    readonly position: LogPosition;
    readonly settle: (outcome: 'reached' | 'timeout' | 'aborted') => void;
  }>();
  #position: LogPosition = logStart;

  constructor(log: EventLog, clock: Clock, types: readonly ResourceType[]) {
    this.#log = log;
    this.snapshots = new SnapshotSlots(clock);
    this.#clock = clock;
    this.#types = new Map(types.map((type) => [type.key, type]));
  }

  /** Folds the events of the log that it has not folded, `size` events a batch. */
  async fold(size = 64): Promise<void> {
    const events: RecordedEvent[] = [];
    for await (const batch of this.#log.readAll({ after: this.#position, categories: ['object'] }))
      events.push(...batch);
    for (let start = 0; start < events.length; start += size) this.apply(events.slice(start, start + size));
  }

  apply(batch: readonly RecordedEvent[]): void {
    const last = batch.at(-1);
    if (last === undefined) return;
    const changes = batch.map((recorded) => this.#foldOne(recorded)).filter((change) => change !== undefined);
    this.#position = last.position;
    for (const listener of this.#listeners) listener({ changes, position: last.position });
    for (const waiting of this.#waiting) if (waiting.position <= this.#position) waiting.settle('reached');
  }

  #foldOne(recorded: RecordedEvent): Change | undefined {
    const [type = '', name = ''] = recorded.stream.slice('object:'.length).split('/', 2);
    const key = `${type}/${name}`;
    const decoded = decodeEvent(recorded);
    const { event } = decoded;
    const previous = this.#rows.get(key);
    this.#rows.delete(key);
    this.#deleted.set(key, recorded.revision);
    if (!isObjectEvent(event) || event.object === undefined) return undefined;
    const bytes = answerBytes(decoded, recorded.data, recorded.position.toString());
    const declared = this.#types.get(type as TypeKey);
    const after =
      event.type === 'ObjectDeleted' || declared === undefined ? undefined : entryOf(declared.indexes, event.object);
    const at = { revision: recorded.revision, position: recorded.position };
    if (after !== undefined) this.#rows.set(key, { bytes, entry: after, ...at });
    return {
      type: type as TypeKey,
      name,
      bytes,
      ...at,
      cause: { id: recorded.id, correlationId: correlationIn(recorded) },
      requestId: requestIn(recorded),
      before: previous?.entry,
      after,
      kind: event.type === 'ObjectDeleted' ? 'deleted' : previous === undefined ? 'added' : 'modified',
      previousBytes: previous === undefined ? undefined : () => previous.bytes,
      deletionRequested: event.object.metadata.deletionTimestamp !== undefined,
      finalizers: event.object.metadata.finalizers !== undefined,
    };
  }

  position(): LogPosition {
    return this.#position;
  }

  isKnown(position: LogPosition): boolean {
    return isOfEpoch(position, 0);
  }

  get(type: TypeKey, name: string): StoredObject | undefined {
    return this.#rows.get(`${type}/${name}`);
  }

  head(type: TypeKey, name: string): StreamHead {
    const stored = this.get(type, name);
    if (stored !== undefined) return { kind: 'live', stored };
    const revision = this.#deleted.get(`${type}/${name}`);
    return revision === undefined ? { kind: 'absent' } : { kind: 'deleted', revision };
  }

  list(type: TypeKey, query: ListQuery): ListPage {
    const rows = this.#selected(type, query);
    return {
      position: this.#position,
      total: rows.length,
      count: rows.length,
      next: undefined,
      remaining: 0,
      items: Buffer.from(rows.map(({ bytes }) => Buffer.from(bytes).toString()).join()),
    };
  }

  async names(type: TypeKey, selection: Selection): Promise<readonly string[]> {
    return Promise.resolve(this.#selected(type, { selection }).map(({ entry }) => entry.name));
  }

  pages(type: TypeKey, query: Pick<ListQuery, 'selection'>): Iterable<readonly string[]> {
    return [this.#selected(type, query).map(({ entry }) => entry.name)];
  }

  async objects(type: TypeKey, query: ListQuery): Promise<ListedObjects> {
    const rows = this.#selected(type, query);
    return Promise.resolve({
      position: this.#position,
      total: rows.length,
      batches: inBatches(rows.map(({ bytes }) => bytes)),
    });
  }

  #selected(type: TypeKey, { selection }: Pick<ListQuery, 'selection'>): readonly Row[] {
    return [...this.#rows]
      .filter(([key, { entry }]) => key.startsWith(`${type}/`) && matches(selection, entry))
      .map(([, row]) => row);
  }

  holderOf(): undefined {
    return undefined;
  }

  reached(position: LogPosition, options: { readonly timeoutMs: number }): Promise<'reached' | 'timeout' | 'aborted'> {
    if (position <= this.#position) return Promise.resolve('reached');
    return new Promise((resolve) => {
      const timer = this.#clock.after(options.timeoutMs, () => {
        waiting.settle('timeout');
      });
      const waiting = {
        position,
        settle: (outcome: 'reached' | 'timeout' | 'aborted'): void => {
          timer.cancel();
          this.#waiting.delete(waiting);
          resolve(outcome);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  contains(...call: Parameters<ObjectReader['contains']>): ReturnType<ObjectReader['contains']> {
    return this.reached(...call);
  }

  subscribe(listener: (batch: ChangeBatch) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

/** Waits a turn between batches, as a paged snapshot does. A reader must not see changes of that time. */
async function* inBatches(objects: readonly Uint8Array[]): AsyncGenerator<readonly Uint8Array[]> {
  for (let start = 0; start < objects.length; start += 2) {
    yield objects.slice(start, start + 2);
    await nextTurn();
  }
}

/** Writes widgets directly into a log, as events that `decide` would return. */
export class WidgetWriter {
  readonly #log: EventLog;
  readonly #plural: string;
  /** The last revision of each written name, and the content of each existing widget. */
  readonly #heads = new Map<
    string,
    { readonly revision: StreamRevision; readonly content: WidgetContent | undefined }
  >();

  constructor(log: EventLog, plural = 'widgets') {
    this.#log = log;
    this.#plural = plural;
  }

  exists(name: string): boolean {
    return this.#heads.get(name)?.content !== undefined;
  }

  /** `step`: the ids of the reconciler's step that writes, if any. */
  async write(
    name: string,
    content: WidgetContent | 'deleted' | 'fenced',
    step?: { readonly requestId: string; readonly correlationId: string },
  ): Promise<LogPosition> {
    const head = this.#heads.get(name);
    const version = head === undefined ? 0 : head.revision + 1;
    const next = typeof content === 'string' ? (content === 'fenced' ? head?.content : undefined) : content;
    const event = eventOf(content, { name, version, current: head?.content });
    const proposed = encodeEvent(idOf(`${this.#plural}/${name}/${String(version)}`), event, {
      actor: 'test',
      verb: 'update',
      requestId: step?.requestId ?? 'r',
      time: '2026-01-01T00:00:00.000Z',
      schema: 1,
      $correlationId: step?.correlationId ?? 'r',
    });
    // Copies the bytes, since rows are decoded at every read, as in another process.
    const stored = step === undefined ? { ...proposed, data: Buffer.from(proposed.data) } : proposed;
    const outcome = await this.#log.append(
      streamName(`object:${this.#plural}.example.com/${name}`),
      [stored],
      head?.revision ?? 'absent',
    );
    if (!outcome.ok) throw new Error(`not appended: ${outcome.reason}`);
    this.#heads.set(name, { revision: outcome.revision, content: next });
    return outcome.position;
  }
}

type Standing = { readonly name: string; readonly version: number; readonly current: WidgetContent | undefined };

function eventOf(content: WidgetContent | 'deleted' | 'fenced', { name, version, current }: Standing): ObjectEvent {
  if (content === 'fenced')
    return {
      type: 'NameFenced',
      values: [],
      ...(current === undefined ? {} : { object: widget(name, version, current) }),
    };
  if (content === 'deleted') return { type: 'ObjectDeleted', values: [], object: widget(name, version, current) };
  return {
    type: current === undefined ? 'ObjectCreated' : 'ObjectUpdated',
    values: [],
    object: widget(name, version, content),
  };
}
