import { declaredIn, decodeEvent, isObjectEvent, stampOf } from '../../src/log/event-codec.ts';
import { outlineOf } from '../../src/log/event-outline.ts';
import {
  logStart,
  type LogIdentity,
  type LogPosition,
  type RecordedEvent,
  type StreamName,
  type StreamRevision,
} from '../../src/log/log.ts';
import { replayNamesBytesMax } from '../../src/limits/replay.ts';
import type { Declared } from '../../src/read/declarations.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { Declarations, type DeclarationsBatch } from '../declarations.ts';
import { must } from '../../src/base/unreachable.ts';
import {
  assertFollows,
  foldedCategories,
  foldOther,
  isOfObject,
  objectStream,
  recordWrite,
  type OtherContext,
} from '../fold-event.ts';
import { Level } from '../level.ts';
import type { LmdbTables, Writer } from '../lmdb-tables.ts';
import { declaredOf, hasReferences, revisionOf } from '../row.ts';
import type { RebuildOptions } from './rebuild.ts';
import { endOfAppends, type ScannedLog } from './scanned-log.ts';
import { PendingIntents } from './pending-intents.ts';
import { writeLasts, type Last } from './write-lasts.ts';

/** The estimated bytes in memory of a name or a secret, without the text. */
const nameBytes = 256;

/** The methods of `Writer` that this fold does not call for single events. */
type LastWrites = 'putRow' | 'putDeleted' | 'putReferences' | 'dropIntents' | 'dropSecrets' | 'putCheckpoint';
type Tables = Pick<LmdbTables, 'row' | 'deletedAt' | 'head' | 'commit'>;

/**
 * A fold for replays, with the same results as `ObjectModels` if no types are registered. The log must read an event by
 * its position quickly.
 *
 * An object's row depends only on the object's last event. So the fold keeps the position of each object's last event
 * in memory, and writes one row for each object at the end, or whenever the kept entries reach `bytesMax`.
 */
export class LastEvents {
  readonly #tables: Tables;
  readonly #identity: () => LogIdentity;
  readonly #bytesMax: number;
  readonly #lasts = new Map<StreamName, Last>();
  readonly #heads = new Map<StreamName, StreamRevision>();
  readonly #declared = new Map<TypeKey, Declared>();
  readonly #onceUnique = new Map<TypeKey, readonly string[]>();
  /** The pending writes of secrets, in the order of the log. */
  readonly #secrets: ((writer: Writer) => void)[] = [];
  readonly #declarations = new Declarations({ onceUnique: () => [], declared: () => [] });
  readonly #intents = new PendingIntents();
  readonly #level = new Level({ level: () => undefined });
  #levelRaised: number | undefined;
  /** The number of live objects of each type. */
  readonly #counts = new Map<TypeKey, number>();
  #known: OtherContext | undefined;
  #bytes = 0;
  #position: LogPosition = logStart;
  #events = 0;
  /** Whether the fold has written to the tables, so that a name may have a row in the tables. */
  #hasSettled = false;

  /** `tables` must be empty. */
  constructor(tables: Tables, identity: () => LogIdentity, bytesMax = replayNamesBytesMax) {
    this.#tables = tables;
    this.#identity = identity;
    this.#bytesMax = bytesMax;
  }

  position(): LogPosition {
    return this.#position;
  }

  /** The number of folded events. */
  folded(): number {
    return this.#events;
  }

  /** Folds the events up to `until`, and writes the results to the tables. */
  async rebuild(log: ScannedLog, { until, onBatch }: RebuildOptions): Promise<void> {
    const last = await endOfAppends(log, { after: this.#position, until });
    if (last <= this.#position) return;
    this.#begin();
    await log.scan({
      after: this.#position,
      until: last,
      categories: foldedCategories,
      visit: (recorded) => {
        this.#take(recorded);
      },
      onBatch: async () => {
        this.#keep();
        if (this.#bytes >= this.#bytesMax) await this.#settle(log, onBatch);
        await onBatch();
      },
    });
    await this.#settle(log, onBatch);
    this.#tables.commit((writer) => {
      this.#intents.write(writer);
    });
  }

  #begin(): void {
    const [declarations, level] = [this.#declarations.begin(), this.#level.begin()];
    this.#known = { rows: this.#rows, identity: this.#identity(), declarations, level };
  }

  #take(recorded: RecordedEvent): void {
    // `stampOf` runs first, because it throws for events of later versions, which this version would misread.
    stampOf(recorded);
    const known = must(this.#known, 'the fold has begun');
    this.#position = recorded.position;
    if (isOfObject(recorded)) this.#note(recorded, known.declarations);
    else foldOther(recorded, this.#writer, known);
    this.#events += 1;
  }

  #keep(): void {
    const { declarations, level } = must(this.#known, 'the fold has begun');
    declarations.write(this.#writer);
    level.write(this.#writer);
    this.#declarations.keep(declarations);
    this.#level.keep(level);
    this.#begin();
  }

  async #settle(log: ScannedLog, onStep: RebuildOptions['onBatch']): Promise<void> {
    await writeLasts(this.#lasts, { log, tables: this.#tables, onStep });
    const eventId = (await log.readAt(this.#position))?.id ?? '';
    this.#tables.commit((writer) => {
      for (const write of this.#secrets) write(writer);
      for (const [stream, revision] of this.#heads) writer.putHead(stream, revision);
      for (const [type, names] of this.#onceUnique) writer.putOnceUnique(type, names);
      for (const [type, declared] of this.#declared) writer.putDeclared(type, declared);
      if (this.#levelRaised !== undefined) writer.putLevel(this.#levelRaised);
      const [position, events] = [this.#position, this.#events];
      // `time` is 0, because the latest time depends on the clock of the folding node and is not compared.
      if (events > 0) writer.putCheckpoint({ ...this.#identity(), position, eventId, events, time: 0 });
    });
    for (const table of [this.#lasts, this.#heads, this.#onceUnique, this.#declared]) table.clear();
    this.#secrets.length = 0;
    this.#bytes = 0;
    this.#hasSettled = true;
  }

  #note(recorded: RecordedEvent, declarations: DeclarationsBatch): void {
    const { values, hasObject } = outlineOf(recorded);
    const declared = declaredIn(recorded);
    if (recorded.type === 'ObjectDeleted') this.#dropSecrets(recorded);
    // Runs after all reads of the event's bytes, because `#lastOf` may read a table, which invalidates the bytes.
    const last = this.#lastOf(recorded);
    const { type, name, isLive: wasLive } = last;
    assertFollows(recorded, last.revision);
    if (values.length > 0) declarations.recordValues(type, values);
    last.isLive = hasObject && recorded.type !== 'ObjectDeleted';
    last.revision = recorded.revision;
    this.#intents.drop(`${type}/${name}`, recorded.revision);
    last.position = this.#position;
    if (last.isLive !== wasLive) {
      const count = this.#counts.get(type) ?? 0;
      this.#counts.set(type, wasLive ? count - 1 : count + 1);
    }
    if (!last.isLive) return;
    const row = wasLive ? { declared: last.declared } : undefined;
    recordWrite(recorded, { type, name, declared, row }, declarations);
    last.declared = declared;
  }

  #lastOf(recorded: RecordedEvent): Last {
    const known = this.#lasts.get(recorded.stream);
    if (known !== undefined) return known;
    const last = this.#storedLast(recorded);
    this.#lasts.set(recorded.stream, last);
    this.#bytes += nameBytes + 2 * recorded.stream.length;
    return last;
  }

  #storedLast(recorded: RecordedEvent): Last {
    const { type, name } = objectStream(recorded);
    const none = { type, name, revision: undefined, position: logStart, declared: undefined, hadReferences: false };
    const row = this.#hasSettled ? this.#tables.row(type, name) : undefined;
    if (row !== undefined)
      return {
        ...none,
        revision: revisionOf(row),
        declared: declaredOf(row),
        isLive: true,
        isGone: false,
        hadReferences: hasReferences(row),
      };
    const revision = this.#hasSettled ? this.#tables.deletedAt(type, name) : undefined;
    return { ...none, revision, isLive: false, isGone: revision !== undefined };
  }

  #dropSecrets(recorded: RecordedEvent): void {
    const { event } = decodeEvent(recorded);
    const uid = isObjectEvent(event) ? event.object?.metadata.uid : undefined;
    if (uid !== undefined)
      this.#writeSecret(uid, (writer) => {
        writer.dropSecrets(uid);
      });
  }

  #writeSecret(text: string, write: (writer: Writer) => void): void {
    this.#secrets.push(write);
    this.#bytes += nameBytes + 2 * text.length;
  }

  readonly #rows: OtherContext['rows'] = {
    isEmpty: (type) => (this.#counts.get(type) ?? 0) === 0,
    head: (stream) => this.#heads.get(stream) ?? (this.#hasSettled ? this.#tables.head(stream) : undefined),
  };

  readonly #writer: Omit<Writer, LastWrites> = {
    putIntent: (intent) => {
      this.#intents.putIntent(intent);
    },
    withdrawIntent: (intent) => {
      this.#intents.withdrawIntent(intent);
    },
    putHead: (stream, revision) => {
      if (!this.#heads.has(stream)) this.#bytes += nameBytes + 2 * stream.length;
      this.#heads.set(stream, revision);
    },
    putPasswordHash: (uid, revision, hash) => {
      this.#writeSecret(uid + hash, (writer) => {
        writer.putPasswordHash(uid, revision, hash);
      });
    },
    putTokenDigest: (uid, digest) => {
      this.#writeSecret(uid + digest, (writer) => {
        writer.putTokenDigest(uid, digest);
      });
    },
    putOnceUnique: (type, names) => {
      this.#onceUnique.set(type, names);
    },
    putDeclared: (type, declared) => {
      this.#declared.set(type, declared);
    },
    putLevel: (level) => {
      this.#levelRaised = level;
    },
  };
}
