import { join } from 'node:path';

import { AuditModels } from '../../../projections/audit/audit-models.ts';
import type { AuditPart } from '../../../projections/audit/audit-part.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { EventPart } from '../../../projections/audit/event-part.ts';
import { TimePart } from '../../../projections/audit/time-part.ts';
import { TreePart } from '../../../projections/audit/tree/tree-part.ts';
import { VersionPart } from '../../../projections/audit/version-part.ts';
import { ColumnLists } from '../../../projections/audit/columns/column-lists.ts';
import type { ComparedTypes } from '../../../projections/audit/columns/compared-columns.ts';
import { ColumnPart } from '../../../projections/audit/columns/column-part.ts';
import { ObjectsAt } from '../../../projections/audit/columns/objects-at.ts';
import type { ObjectModels } from '../../../projections/object-models.ts';
import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import { privateDir } from '../../disk/data-dir.ts';
import { refuseDamagedFile } from '../../disk/store-file.ts';
import { prepareStoreFiles } from '../../disk/store-files.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import type { LogIdentity } from '../../log/log.ts';
import type { EventIndex } from '../../read/event-index.ts';
import type { LogTimes, VersionReader } from '../../read/versions.ts';
import type { PluginLogger } from '../../plugin/api/plugin.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { ListsAt } from '../../read/lists-at.ts';
import type { Startup } from '../startup.ts';

/** The audit indexes. One fold keeps all parts at the same position. */
export type ComposedAudit = {
  readonly models: AuditModels;
  readonly tree: TreePart;
  readonly versions: VersionReader;
  readonly times: LogTimes;
  readonly events: EventIndex;
  /**
   * The columns contain the indexed values of objects at every position, for lists at past positions. `start` makes
   * them follow the object read model until `close`. `hold` returns them for a comparison with the log.
   */
  readonly columns: {
    start(): void;
    hold(): ComparedTypes;
    close(): Promise<void>;
  };
  readonly lists: ListsAt;
};

export type AuditOptions = {
  readonly config: Config;
  readonly eventLog: FoundedLog;
  readonly objects: ObjectModels;
  readonly registry: TypeRegistry;
  readonly clock: Clock;
  readonly logger: PluginLogger;
};

export async function composeAudit(options: AuditOptions, startup: Startup): Promise<ComposedAudit> {
  const { config, eventLog, clock } = options;
  const identity = (): LogIdentity => eventLog.identity();
  const tree = new TreePart(() => identity().epoch);
  const versions = new VersionPart({ identity });
  const times = new TimePart(identity);
  const events = new EventPart({ identity, versions });
  const columns = new ColumnPart({ identity, clock });
  const parts: readonly AuditPart[] = [tree, versions, times, events, columns];
  const tables = await startup.phase(
    'open the audit indexes',
    () => openTables(config, parts),
    async (all) => all.close(),
  );
  const models = new AuditModels({ tables, parts, identity, clock });
  return { models, tree, versions, times, events, ...composeColumns({ columns, models, versions }, options) };
}

type ColumnParts = {
  readonly columns: ColumnPart;
  readonly models: AuditModels;
  readonly versions: VersionReader;
};

/** Composes the columns, and the lists of past states that read the columns. */
function composeColumns(
  { columns, models, versions }: ColumnParts,
  { eventLog, objects, registry, clock, logger }: AuditOptions,
): Pick<ComposedAudit, 'columns' | 'lists'> {
  for (const { type } of registry.all()) columns.register(type);
  registry.subscribe(({ type }, change) => {
    if (change === 'registered') columns.register(type);
    if (change === 'removed') columns.remove(type.key);
  });
  const onError = (error: unknown): void => {
    logger.error('could not update the audit tables for lists of past states; retrying', { err: error });
  };
  const lists = new ColumnLists({ columns, objects: new ObjectsAt({ log: eventLog, versions }), clock });
  return {
    columns: {
      start: () => {
        columns.start({ feed: objects, log: eventLog, folded: models.position(), onError });
      },
      hold: () => columns.hold(),
      close: async () => columns.close(),
    },
    lists,
  };
}

function openTables({ dataDir }: Config, parts: readonly AuditPart[]): AuditTables {
  const dir = privateDir(join(dataDir, 'audit-models'));
  refuseDamagedFile(join(dir, 'tables.mdb'), `remove ${dir}: the server rebuilds it from the log`);
  return new AuditTables(dir, parts, prepareStoreFiles);
}
