import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';

import { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../projections/object-models.ts';
import { Passwords } from '../../auth/passwords/password.ts';
import { compilePlatformTypes } from '../../auth/types/platform-types.ts';
import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import { privateDir, takeDataDir } from '../../disk/data-dir.ts';
import { DiskReserve } from '../../disk/disk-reserve.ts';
import { diskSpaceNow } from '../../disk/disk-space.ts';
import { tightenDataDir } from '../../disk/private-files.ts';
import { refuseFullDisk } from '../../disk/start-space.ts';
import { prepareStoreFiles } from '../../disk/store-files.ts';
import { FoundedLog } from '../../log/founded-log.ts';
import type { LogState } from '../../log/log.ts';
import { openLog as openConfiguredLog, type OpenedLog, type OpenLog } from '../open-log.ts';
import { platformVersion } from '../platform-version.ts';
import { removeReplays } from '../replay/replay-thread.ts';
import { loggerOf } from '../plugin-logger.ts';
import { Packages } from '../../plugin/packages/packages.ts';
import { pluginTypeDeclaration } from '../../plugin/objects/plugin-type.ts';
import { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import { compileType } from '../../resource/type/type-declaration.ts';
import { refuseDamagedFile } from '../../disk/store-file.ts';
import { ClockAgreement } from '../../write/clock-agreement.ts';
import { composeTables, type AccessTables } from './access/access-tables.ts';
import { composeAudit, type ComposedAudit } from './compose-audit.ts';
import type { Startup } from '../startup.ts';

/** The log, its read models, the registry of types, and the files of this node. */
export type Stores = {
  readonly eventLog: FoundedLog;
  readonly logName: OpenedLog['name'];
  /** Whether no other node can use the log. True for an embedded log, because its server locks DATA_DIR. */
  readonly isAlone: boolean;
  /** Returns the number of renewed subscriptions to the log. */
  readonly resubscriptions: () => number;
  readonly models: ObjectModels;
  readonly audit: ComposedAudit;
  readonly agreement: ClockAgreement;
  readonly registry: TypeRegistry;
  readonly accessTables: AccessTables;
  readonly packages: Packages;
  readonly disk: DiskReserve;
};

export type StoreOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onFatal: (error: Error) => void;
  readonly openLog?: OpenLog;
  readonly passwords?: Passwords;
};

/** @throws StartError if only the operator can fix the problem. */
export async function openStores(config: Config, options: StoreOptions, startup: Startup): Promise<Stores> {
  const { clock, log, passwords = new Passwords() } = options;
  refuseFullDisk(config.dataDir);
  await startup.phase(
    'lock the data directory',
    async () => takeDataDir(config.dataDir),
    async (lock) => lock.release(),
  );
  removeReplays(config.dataDir);
  tightenDataDir(config.dataDir);
  const watched = {
    dir: config.dataDir,
    reserveBytes: config.diskReserveBytes,
    clock,
    log: loggerOf(log),
  };
  const disk = await startup.phase(
    'watch free disk space',
    () => new DiskReserve(diskSpaceNow(config.dataDir), watched),
    (reserve) => {
      reserve.stop();
    },
  );
  const { eventLog, ...opened } = await openEventLog(config, options, startup);
  const agreement = new ClockAgreement(clock, eventLog);
  const tables = await startup.phase(
    'open the read models',
    () => openTables(config),
    async (all) => all.close(),
  );
  const registry = new TypeRegistry();
  registerPlatformTypes(registry, config.platformDomain);
  const models = new ObjectModels({
    tables,
    identity: () => eventLog.identity(),
    types: (key) => registry.byKey(key)?.type,
    clock,
    latestTime: () => agreement.latest(),
    log: eventLog,
    onUnindexed: (type, unindexed) => {
      log.warn(
        { plugin: type.plugin, type: type.key, ...unindexed },
        'an index function fails for stored objects: they have no value in its index',
      );
    },
  });
  registry.subscribe(({ type }, change) => {
    if (change === 'removed') models.dropIndexes(type.key);
  });
  const packages = await startup.phase('open packages of plugins', async () =>
    openPackages(config, { log: eventLog, clock, lastEventTime: () => models.lastTime() }),
  );
  const accessTables = composeTables({ models, eventLog, clock, domain: config.platformDomain, passwords, registry });
  const audit = await composeAudit(
    { config, eventLog, objects: models, registry, clock, logger: loggerOf(log) },
    startup,
  );
  return { ...opened, eventLog, models, audit, agreement, registry, accessTables, packages, disk };
}

async function openEventLog(
  config: Config,
  { clock, log, onFatal, openLog = openConfiguredLog }: StoreOptions,
  startup: Startup,
): Promise<Pick<Stores, 'eventLog' | 'logName' | 'isAlone' | 'resubscriptions'>> {
  let resubscriptions = 0;
  const onResubscribed = (): void => {
    resubscriptions += 1;
  };
  const onState = (state: LogState): void => {
    if (state.reachable) log.info('the event log is available');
    else log.warn({ reason: state.reason }, 'the event log is unreachable');
  };
  const opened = await startup.phase(
    'open the log',
    async () => openLog(config, { clock, onFatal, onState, onResubscribed }),
    async (open) => open.log.close(),
  );
  return {
    eventLog: new FoundedLog(opened.log),
    logName: opened.name,
    isAlone: opened.name === 'embedded log',
    resubscriptions: () => resubscriptions,
  };
}

function openTables({ dataDir }: Config): LmdbTables {
  const dir = privateDir(join(dataDir, 'read-models'));
  refuseDamagedFile(join(dir, 'tables.mdb'), `remove ${dir}: the server rebuilds it from the log`);
  return new LmdbTables(dir, prepareStoreFiles);
}

type LogPorts = {
  readonly log: FoundedLog;
  readonly clock: Clock;
  readonly lastEventTime: () => number;
};

/** Opens the packages of installed plugins. DATA_DIR contains the unpacked files of the packages in the log. */
async function openPackages({ dataDir }: Config, ports: LogPorts): Promise<Packages> {
  const packages = new Packages(privateDir(join(dataDir, 'packages')), { ...ports, uuid: randomUUID });
  await packages.open();
  return packages;
}

function registerPlatformTypes(registry: TypeRegistry, domain: string): void {
  const plugins = compileType(pluginTypeDeclaration(domain), {
    plugin: 'platform',
    bundled: true,
    domain,
    by: { version: platformVersion, source: 'platform' },
  });
  if (!plugins.ok) throw new Error(plugins.problems.join('; '));
  for (const type of [plugins.type, ...compilePlatformTypes(domain, platformVersion)]) registry.register(type);
}
