import { join } from 'node:path';

import { AuditModels } from '../../../projections/audit/audit-models.ts';
import type { AuditPart } from '../../../projections/audit/audit-part.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { EventPart } from '../../../projections/audit/event-part.ts';
import { TimePart } from '../../../projections/audit/time-part.ts';
import { TreePart } from '../../../projections/audit/tree/tree-part.ts';
import { VersionPart } from '../../../projections/audit/version-part.ts';
import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import { privateDir } from '../../disk/data-dir.ts';
import { refuseDamagedFile } from '../../disk/store-file.ts';
import { prepareStoreFiles } from '../../disk/store-files.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import type { LogIdentity } from '../../log/log.ts';
import type { EventIndex } from '../../read/event-index.ts';
import type { LogTimes, VersionReader } from '../../read/versions.ts';
import type { Startup } from '../startup.ts';

/** The audit indexes: their parts, and the fold that keeps all of them at one position. */
export type ComposedAudit = {
  readonly models: AuditModels;
  readonly tree: TreePart;
  readonly versions: VersionReader;
  readonly times: LogTimes;
  readonly events: EventIndex;
};

export type AuditOptions = {
  readonly config: Config;
  readonly eventLog: FoundedLog;
  readonly clock: Clock;
};

export async function composeAudit(
  { config, eventLog, clock }: AuditOptions,
  startup: Startup,
): Promise<ComposedAudit> {
  const identity = (): LogIdentity => eventLog.identity();
  const tree = new TreePart(() => identity().epoch);
  const versions = new VersionPart({ identity });
  const times = new TimePart(identity);
  const events = new EventPart({ identity, versions });
  const parts: readonly AuditPart[] = [tree, versions, times, events];
  const tables = await startup.phase(
    'open the audit indexes',
    () => openTables(config, parts),
    async (all) => all.close(),
  );
  const models = new AuditModels({ tables, parts, identity, clock });
  return { models, tree, versions, times, events };
}

function openTables({ dataDir }: Config, parts: readonly AuditPart[]): AuditTables {
  const dir = privateDir(join(dataDir, 'audit-models'));
  refuseDamagedFile(join(dir, 'tables.mdb'), `remove ${dir}: the server rebuilds it from the log`);
  return new AuditTables(dir, parts, prepareStoreFiles);
}
