import type { BuildProgress, Unindexed } from '../src/read/index-build.ts';
import { Slices } from '../src/base/slices.ts';
import type { Clock } from '../src/base/clock.ts';
import type { NameRange } from '../src/command/upgrade/stored-rows.ts';
import { namePageObjectsMax } from '../src/limits/lists.ts';
import { clockDifferenceMsMax, projectionBatchEventsMax } from '../src/limits/log.ts';
import { nameLengthMax } from '../src/limits/objects.ts';
import {
  isOfEpoch,
  logStart,
  type EventLog,
  type LogIdentity,
  type LogPosition,
  type RecordedEvent,
} from '../src/log/log.ts';
import type {
  Change,
  ChangeBatch,
  ChangeFeed,
  ListedObjects,
  ListPage,
  LongList,
  ObjectReader,
  StoredObject,
  StreamHead,
  WaitOptions,
  Wanted,
} from '../src/read/objects.ts';
import type { SecretReader } from '../src/read/secrets.ts';
import type { IndexKey, TypeKey } from '../src/resource/type/index-entry.ts';
import type { ListQuery, OrderPlace, Selection } from '../src/resource/query/list-query.ts';
import type { ResourceType } from '../src/resource/type/resource-type.ts';
import { ContainedPositions } from './positions/contained-positions.ts';
import { Declarations } from './declarations.ts';
import { EventTimes } from './event-times.ts';
import { foldedCategories, foldEvent } from './fold-event.ts';
import { SnapshotSlots } from '../src/read/snapshot-slots.ts';
import { holdModels, type HeldModels } from './replay/held-models.ts';
import { Level } from './level.ts';
import { ListPages, type Listing } from './list-pages.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { LmdbTables, Writer } from './lmdb-tables.ts';
import { ObjectIndexes, type OnUnindexed } from './object-indexes.ts';
import { OlderRows } from './older-rows.ts';
import { FoldedReferences } from './references/folded-references.ts';
import { PositionWaiters } from './positions/position-waiters.ts';
import type { Fold } from './runner.ts';
import { storedOf } from './row.ts';

export type ObjectModelDependencies = {
  readonly tables: LmdbTables;
  /**
   * Returns the identity of the folded log. The constructor does not call `identity`, so the log may be founded later.
   */
  readonly identity: () => LogIdentity;
  readonly types: (key: TypeKey) => ResourceType | undefined;
  readonly clock: Clock;
  readonly onUnindexed?: OnUnindexed;
  /** Returns the latest acceptable time of an event, in epoch milliseconds. */
  readonly latestTime?: () => number;
  /** The folded log. Without it, `contains` waits for the position of a folded event. */
  readonly log?: Pick<EventLog, 'head' | 'readAll'>;
};

/**
 * The object read model: rows in LMDB, indexes in memory, and one checkpoint. A batch of events becomes visible in one
 * turn of the event loop (docs/spec/consistency.md, 2).
 */
export class ObjectModels implements ObjectReader, SecretReader, ChangeFeed, Fold {
  readonly categories = foldedCategories;
  readonly sliceEventsMax = projectionBatchEventsMax;
  readonly #tables: LmdbTables;
  readonly #identity: () => LogIdentity;
  readonly #types: (key: TypeKey) => ResourceType | undefined;
  readonly #clock: Clock;
  readonly snapshots: SnapshotSlots;
  readonly #pages: ListPages;
  readonly #indexes: ObjectIndexes;
  readonly #listeners = new Set<(batch: ChangeBatch) => void>();
  readonly #waiters: PositionWaiters;
  readonly #contained: ContainedPositions | undefined;
  /** The position of the last folded event and of the committed checkpoint. */
  #position: LogPosition;
  /** The number of folded events. */
  #events: number;
  readonly #times: EventTimes;
  readonly declarations: Declarations;
  readonly level: Level;
  readonly older: OlderRows;
  readonly references: FoldedReferences;

  constructor(dependencies: ObjectModelDependencies) {
    this.#tables = dependencies.tables;
    this.#identity = dependencies.identity;
    this.#types = dependencies.types;
    this.#clock = dependencies.clock;
    this.#indexes = new ObjectIndexes(dependencies);
    this.#waiters = new PositionWaiters(dependencies.clock);
    this.#contained = dependencies.log && new ContainedPositions(dependencies.log, this);
    this.declarations = new Declarations(dependencies.tables);
    this.level = new Level(dependencies.tables);
    this.older = new OlderRows(dependencies.tables);
    this.references = new FoldedReferences(dependencies.tables, this.declarations);
    this.#pages = new ListPages(dependencies.tables, dependencies.clock);
    this.snapshots = new SnapshotSlots(dependencies.clock);
    const { position = logStart, events = 0, time = 0 } = this.#tables.checkpoint() ?? {};
    [this.#position, this.#events] = [position, events];
    const { clock, latestTime = () => clock.now() + clockDifferenceMsMax } = dependencies;
    this.#times = new EventTimes(time, latestTime);
  }

  position(): LogPosition {
    return this.#position;
  }

  checkpoint(): Checkpoint | undefined {
    return this.#tables.checkpoint();
  }

  /** The number of folded events. */
  folded(): number {
    return this.#events;
  }

  /** The latest accepted time of a folded event, in epoch milliseconds. */
  lastTime(): number {
    return this.#times.lastMs();
  }

  /**
   * The latest time, in epoch milliseconds, that the last folded batch ignored as too far in the future. Undefined if
   * the batch ignored no time.
   */
  strayTime(): number | undefined {
    return this.#times.strayMs();
  }

  identity(): LogIdentity {
    return this.#identity();
  }

  isKnown(position: LogPosition): boolean {
    return isOfEpoch(position, this.#identity().epoch);
  }

  /** Deletes all contents. Call `clear` before any content is served. */
  clear(): void {
    this.#tables.clear();
    this.declarations.clear();
    this.level.clear();
    this.#position = logStart;
    this.#events = 0;
  }

  passwordHash(uid: string, revision: number): string | undefined {
    return this.#tables.passwordHash(uid, revision);
  }

  tokenDigest(uid: string): string | undefined {
    return this.#tables.tokenDigest(uid);
  }

  get(type: TypeKey, name: string): StoredObject | undefined {
    // No object has a longer name, and LMDB rejects longer keys.
    const row = name.length > nameLengthMax ? undefined : this.#tables.row(type, name);
    return row === undefined ? undefined : storedOf(row);
  }

  head(type: TypeKey, name: string): StreamHead {
    const stored = this.get(type, name);
    if (stored !== undefined) return { kind: 'live', stored };
    const revision = name.length > nameLengthMax ? undefined : this.#tables.deletedAt(type, name);
    return revision === undefined ? { kind: 'absent' } : { kind: 'deleted', revision };
  }

  list(type: TypeKey, query: ListQuery): ListPage | LongList {
    return this.#pages.page(this.#listing(type, query));
  }

  async names(type: TypeKey, selection: Selection, signal?: Wanted): Promise<readonly string[]> {
    return this.#pages.names(this.#listing(type, { selection, sort: [], window: { kind: 'all' } }).choice, signal);
  }

  *pages(type: TypeKey, query: Pick<ListQuery, 'selection' | 'sort'>): Iterable<readonly string[]> {
    let after: OrderPlace | undefined;
    do {
      const page = this.#indexes
        .ready(type)
        .query({ ...query, window: { kind: 'after', limit: namePageObjectsMax, after } });
      yield page.names;
      after = page.next;
    } while (after !== undefined);
  }

  async objects(type: TypeKey, query: ListQuery, signal?: Wanted): Promise<ListedObjects> {
    return this.#pages.objects(this.#listing(type, query), signal);
  }

  /**
   * Up to `limit` names of a type's objects in ascending order, beginning after the name `after`. The type need not be
   * registered, and its indexes need not be built.
   */
  namesOf(type: TypeKey, range: NameRange): readonly string[] {
    return this.#tables.names(type, range);
  }

  holderOf(type: Pick<ResourceType, 'key' | 'fingerprint'>, index: number, key: IndexKey): string | undefined {
    return this.#indexes.holderOf(type, index, key);
  }

  async reached(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'> {
    return position <= this.#position ? 'reached' : this.#waiters.wait(position, options);
  }

  async contains(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'> {
    return position <= this.#position ? 'reached' : (this.#contained ?? this).reached(position, options);
  }

  subscribe(listener: (batch: ChangeBatch) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  apply(batch: readonly RecordedEvent[]): number {
    const identity = this.#identity();
    const [declarations, level] = [this.declarations.begin(), this.level.begin()];
    const known = { rows: this.#tables, type: this.#types, identity, declarations, level };
    const slices = new Slices(this.#clock);
    const changes: Change[] = [];
    const times = this.#times.begin();
    let folded = 0;
    this.#tables.commit((writer: Writer) => {
      for (const recorded of batch) {
        // Throws for an event of a later version, before `foldEvent` can misread the event.
        times.take(recorded);
        const change = foldEvent(recorded, writer, known);
        if (change !== undefined) changes.push(change);
        folded += 1;
        // An index function may be slow, so the caller folds the rest of the batch in another transaction.
        if (recorded.endsAppend && slices.isOver()) break;
      }
      const last = batch[folded - 1];
      if (last === undefined) return;
      declarations.write(writer);
      level.write(writer);
      const { position, id: eventId } = last;
      writer.putCheckpoint({ ...identity, position, eventId, events: this.#events + folded, time: times.latestMs() });
    });
    const position = batch[folded - 1]?.position;
    if (position === undefined) return 0;
    for (const change of changes) this.#indexes.apply(change);
    this.#position = position;
    this.#events += folded;
    this.#times.keep(times);
    this.level.keep(level);
    this.declarations.keep(declarations);
    const published: ChangeBatch = { changes, position };
    for (const listener of this.#listeners) listener(published);
    this.#waiters.reached(position);
    return folded;
  }

  /** Returns the present state of the models, which can be compared over several turns. Call `release` afterwards. */
  hold(): HeldModels {
    const { declarations, level } = this;
    const models = { declarations, level, position: () => this.position(), folded: () => this.folded() };
    return holdModels({ tables: this.#tables, indexes: this.#indexes, models });
  }

  /** The types with indexes that are being built. */
  building(): readonly TypeKey[] {
    return this.#indexes.states().building;
  }

  /**
   * Builds the indexes of a type from its rows. Resolves when lists can use the indexes, or when the build was
   * cancelled. The result counts the objects for which an index function failed.
   */
  buildIndexes(type: ResourceType, onProgress?: BuildProgress): Promise<Unindexed> {
    return this.#indexes.build(type, onProgress);
  }

  dropIndexes(type: TypeKey): void {
    this.#indexes.drop(type);
  }

  /** The number of objects of a type; 0 while its indexes are not ready. */
  count(type: TypeKey): number {
    return this.#indexes.count(type);
  }

  #listing(type: TypeKey, query: ListQuery): Listing {
    return { type, choice: this.#indexes.ready(type).begin(query), position: this.#position };
  }
}
