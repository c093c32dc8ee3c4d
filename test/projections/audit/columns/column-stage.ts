import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import { AuditModels } from '../../../../projections/audit/audit-models.ts';
import { AuditTables } from '../../../../projections/audit/audit-tables.ts';
import type { ColumnBounds } from '../../../../projections/audit/columns/column-bounds.ts';
import { ColumnLists } from '../../../../projections/audit/columns/column-lists.ts';
import { ColumnPart } from '../../../../projections/audit/columns/column-part.ts';
import { ObjectsAt } from '../../../../projections/audit/columns/objects-at.ts';
import { VersionPart } from '../../../../projections/audit/version-part.ts';
import { checkColumns, type CheckedColumns } from '../../../../projections/replay/check-columns.ts';
import { LmdbTables } from '../../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../../projections/object-models.ts';
import { catchUp } from '../../../../projections/runner.ts';
import type { ObjectEvent } from '../../../../src/command/event.ts';
import { encodeEvent } from '../../../../src/log/event-codec.ts';
import {
  logPosition,
  streamRevision,
  type LogPosition,
  type RecordedEvent,
  type StreamName,
} from '../../../../src/log/log.ts';
import type { ListPage } from '../../../../src/read/objects.ts';
import type { ListQuery } from '../../../../src/resource/query/list-query.ts';
import { defineIndexes } from '../../../../src/resource/type/index-definition.ts';
import type { IndexSpec } from '../../../../src/resource/type/index-spec.ts';
import type { TypeKey } from '../../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../../src/resource/type/resource-type.ts';
import { FakeClock } from '../../../support/clocks/fake-clock.ts';
import { idOf } from '../../../support/id-of.ts';
import { appended } from '../../../support/memory/log-events.ts';
import { memoryDisk, MemoryLog } from '../../../support/memory/memory-log.ts';
import { widgetType } from '../../../support/watched-type.ts';

const identity = { logId: 'the only one', epoch: 0 };
const { signal } = new AbortController();

/** Small enough that short histories have many segments and snapshots. */
export const smallBounds: ColumnBounds = {
  segmentRows: 7,
  segmentBytes: 4_096,
  changesMin: 10,
  laterRows: 20,
  heldBytes: 20_000,
};

type Opened = {
  readonly tables: LmdbTables;
  readonly models: ObjectModels;
  readonly auditTables: AuditTables;
  readonly audit: AuditModels;
  readonly part: ColumnPart;
  readonly lists: ColumnLists;
  readonly versions: VersionPart;
};

/** A type with the indexes of one declaration. */
export function typeOf(specs: readonly IndexSpec[], plural = 'widgets'): ResourceType {
  const defined = defineIndexes(specs);
  if (!defined.ok) throw new Error(defined.problems.join('; '));
  return { ...widgetType(plural), indexes: defined.indexes, fingerprint: defined.fingerprint };
}

/** A log in memory, and the read models with columns over it, on a disk that outlives them. */
export class ColumnStage {
  readonly dir: string;
  readonly log = new MemoryLog(memoryDisk());
  readonly errors: unknown[] = [];
  readonly #bounds: ColumnBounds;
  readonly #revisions = new Map<string, number>();
  readonly #types = new Map<TypeKey, ResourceType>();
  #events = 0;
  opened!: Opened;

  constructor(
    t: Test,
    { types, bounds = smallBounds }: { readonly types: readonly ResourceType[]; readonly bounds?: ColumnBounds },
  ) {
    this.dir = mkdtempSync(join(tmpdir(), 'ledgerplane-columns-'));
    this.#bounds = bounds;
    for (const type of types) this.#types.set(type.key, type);
    t.teardown(() => {
      rmSync(this.dir, { recursive: true, force: true });
    });
  }

  type(key: TypeKey): ResourceType | undefined {
    return this.#types.get(key);
  }

  async open(): Promise<void> {
    const clock = new FakeClock();
    const tables = new LmdbTables(join(this.dir, 'rows'));
    const models = new ObjectModels({
      tables,
      clock,
      identity: () => identity,
      types: (key) => this.type(key),
    });
    const part = new ColumnPart({ identity: () => identity, clock, bounds: this.#bounds });
    const versions = new VersionPart({ identity: () => identity });
    const parts = [versions, part];
    const auditTables = new AuditTables(join(this.dir, 'audit'), parts);
    const audit = new AuditModels({ tables: auditTables, parts, identity: () => identity, clock });
    const objects = new ObjectsAt({ log: this.log, versions });
    const lists = new ColumnLists({ columns: part, objects, clock });
    this.opened = { tables, models, auditTables, audit, part, lists, versions };
    for (const type of this.#types.values()) part.register(type);
    part.start({
      feed: models,
      log: this.log,
      folded: audit.position(),
      onError: (error) => {
        if (this.opened.part === part) this.errors.push(error);
      },
    });
    for (const type of this.#types.values()) await models.buildIndexes(type);
    await this.fold();
  }

  /** `clean` false: nothing that is in memory is written first. */
  async close(clean = true): Promise<void> {
    const { tables, auditTables, part } = this.opened;
    // Its errors are those of tables that were closed under it.
    if (!clean)
      this.opened = { ...this.opened, part: new ColumnPart({ identity: () => identity, clock: new FakeClock() }) };
    if (clean) await part.close();
    await auditTables.close();
    await tables.close();
    if (!clean) await part.close();
  }

  /** Removes a type, and registers it with this declaration. */
  async declare(key: TypeKey, type: ResourceType | undefined): Promise<void> {
    const { part, models } = this.opened;
    if (this.#types.delete(key)) part.remove(key);
    if (type === undefined) return;
    this.#types.set(key, type);
    part.register(type);
    await models.buildIndexes(type);
  }

  /** Rebuilds all audit tables, as after a change of the format of a part. */
  async rebuild(): Promise<void> {
    this.opened.audit.clear();
    await this.fold();
  }

  /** Appends the events of one object, and returns the position of the last one. */
  async append(stream: StreamName, ...events: readonly ObjectEvent[]): Promise<LogPosition> {
    const revision = this.#revisions.get(stream);
    const proposed = events.map((event) => {
      this.#events += 1;
      const time = '2026-01-01T00:00:00.000Z';
      return encodeEvent(idOf(`event ${String(this.#events)}`), event, {
        actor: 'test',
        verb: 'write',
        time,
        schema: 1,
        requestId: 'r',
        $correlationId: 'r',
      });
    });
    this.#revisions.set(stream, (revision ?? -1) + events.length);
    const expected = revision === undefined ? 'absent' : streamRevision(revision);
    return appended(await this.log.append(stream, proposed, expected)).position;
  }

  /** As the first list of the type does; resolves at once. */
  async request(key: TypeKey): Promise<void> {
    const type = this.type(key);
    if (type !== undefined) await this.opened.part.ready(type, 0, AbortSignal.abort());
  }

  /** Compares the columns with the log, as a replay does. */
  async compare(): Promise<CheckedColumns> {
    const held = this.opened.part.hold();
    return checkColumns(held, {
      log: this.log,
      slices: { isOver: () => true, next: nextTurn },
      within: Number,
      inLog: (within) => logPosition(BigInt(within)),
      onProgress: () => undefined,
    });
  }

  async fold(): Promise<void> {
    await catchUp(this.log, this.opened.models, { signal });
    await catchUp(this.log, this.opened.audit, { signal });
  }

  /** Undefined while the columns are incomplete. */
  async listed(type: ResourceType, query: ListQuery, position: LogPosition): Promise<ListPage | undefined> {
    return this.opened.lists.listAt(type, query, { position, account: 'a', signal });
  }

  async list(type: ResourceType, query: ListQuery, position: LogPosition): Promise<ListPage> {
    const page = await this.listed(type, query, position);
    if (page === undefined) throw new Error('the columns are not complete');
    return page;
  }

  /** The event that a GET of the position shows; undefined before the object's first event. */
  async eventAt(stream: StreamName, position: LogPosition): Promise<RecordedEvent | undefined> {
    const [key = '', name = ''] = stream.slice('object:'.length).split('/');
    const from = this.opened.versions.lastAt(key as TypeKey, name, position);
    if (from === undefined) return undefined;
    const [event] = await this.log.readStream(stream, { from, limit: 1 });
    return event;
  }
}

/** The text of a page's items. */
export async function itemsOf({ items }: ListPage): Promise<string> {
  if (items instanceof Uint8Array) return Buffer.from(items).toString();
  const slices: string[] = [];
  for await (const slice of items()) slices.push(Buffer.from(slice).toString());
  return slices.join();
}
