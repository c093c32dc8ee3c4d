import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';

import { LmdbTables } from '../projections/lmdb-tables.ts';
import { ObjectModels } from '../projections/object-models.ts';
import { ReconcileBound, type Measured } from '../reconcilers/bound.ts';
import { alwaysLeading, LeaseElector } from '../reconcilers/lease.ts';
import { Passwords } from './auth/password.ts';
import { compilePlatformTypes } from './auth/types/platform-types.ts';
import { awaitPlugins } from './await-plugins.ts';
import { systemClock, type Clock } from './base/clock.ts';
import { composeAccess, composeTables, type Access, type AccessTables } from './compose-access.ts';
import { openPackages } from './compose-packages.ts';
import { composeDeclarer } from './compose-declarer.ts';
import { composeLevels } from './compose-levels.ts';
import { composePlugins, type PluginParts, type Plugins } from './compose-plugins.ts';
import { composeReconcilers } from './compose-reconcilers.ts';
import { applyRoles } from './compose-roles.ts';
import type { Config } from './config.ts';
import { privateDir, takeDataDir } from './data-dir.ts';
import { DiskReserve } from './disk/disk-reserve.ts';
import { diskSpaceNow } from './disk/disk-space.ts';
import { tightenDataDir } from './disk/private-files.ts';
import { refuseFullDisk } from './disk/start-space.ts';
import { prepareStoreFiles } from './disk/store-files.ts';
import { drawSuffix } from './draw-suffix.ts';
import { createWriteDoor } from './execute.ts';
import { LogFollower } from './follow-log.ts';
import { createHttpServer } from './http/http-server.ts';
import { Metrics, type EventLoopSource } from './http/metrics.ts';
import { createSenderOf } from './http/sender.ts';
import { RequestMemory } from './http/request-memory.ts';
import { createWatchEndpoints } from './http/watch-endpoints.ts';
import { shutdownMs } from './limits/requests.ts';
import { listen } from './listen.ts';
import { FoundedLog } from './log/founded-log.ts';
import type { LogState } from './log/log.ts';
import { patient } from './patient-execute.ts';
import { openLog as openConfiguredLog, type OpenedLog, type OpenLog } from './open-log.ts';
import { Suspects } from './plugin/blamed-plugin.ts';
import { pluginKeyOf, pluginStrategy, pluginTypeDeclaration } from './plugin/plugin-type.ts';
import type { Packages } from './plugin/packages.ts';
import { TypeRegistry } from './plugin/type-registry.ts';
import { loggerOf } from './plugin-logger.ts';
import { platformVersion } from './platform-version.ts';
import { Readiness } from './readiness.ts';
import { compileType } from './resource/type-declaration.ts';
import { refuseDamagedFile } from './store-file.ts';
import { WatchHub } from './watch/hub.ts';
import { Outboxes, type OutboxBounds } from './watch/outbox.ts';
import { withStrategy } from './write-rules.ts';
import { ClockAgreement } from './write/clock-agreement.ts';
import { HeldBytes } from './write/held-bytes.ts';
import { writeRates } from './write/writer.ts';
import { Writers } from './write/writers.ts';

export type RunningServer = {
  readonly url: string;
  /** What it serves from, the events folded, and the types served once it was ready. */
  readonly ready: { readonly log: OpenedLog['name']; readonly events: number; readonly types: number };
  /** Every method and pattern of a path that something is served at now, `{name}` standing for one segment. */
  readonly routes: () => readonly { readonly method: string; readonly pattern: string }[];
  /** What keeps objects as they want to be: the platform's reconcilers and those of plugins. */
  readonly reconcilers: () => readonly Measured[];
  /** Stops accepting, tells watchers to reconnect, finishes what is in flight, and closes everything in reverse. */
  close(): Promise<void>;
};

export type ServerOptions = {
  readonly log: Logger;
  readonly clock?: Clock;
  /** The log or the read models failed: this process must end. */
  readonly onFatal?: (error: Error) => void;
  /** Aborted: a start that still waits for something gives up, and closes what it has opened. */
  readonly signal?: AbortSignal;
  /** It listens: probes are answered from now on, the platform once the read models have caught up, each plugin once it has started. */
  readonly onListening?: (url: string) => void;
  readonly openLog?: OpenLog;
  readonly passwords?: Passwords;
  /** Instead of the plugins that come with the platform. */
  readonly bundledPlugins?: readonly string[];
  /** Told of every plugin before its code runs: what tells a stray error of a plugin's from the platform's own. */
  readonly suspects?: Suspects;
  /** Of the process, where somebody watches it. */
  readonly eventLoop?: EventLoopSource;
  /** What watches and streams may leave unread. */
  readonly streamBounds?: OutboxBounds;
};

/** Everything that is open, in the order it was opened: closed in reverse, on a stop as on a start that fails. */
class Closers {
  readonly #closers: (() => Promise<void> | void)[] = [];

  add(close: () => Promise<void> | void): void {
    this.#closers.push(close);
  }

  async closeAll(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}

/** The one composition root. Resolves once it is ready: read models have caught up, and plugins have settled or had their time. Rejects with `StartError`. */
export async function startServer(config: Config, options: ServerOptions): Promise<RunningServer> {
  const closers = new Closers();
  try {
    return await start(config, options, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function start(config: Config, options: ServerOptions, closers: Closers): Promise<RunningServer> {
  const { log, clock = systemClock, onFatal = endProcess(log), suspects = new Suspects(), eventLoop, onListening, signal, bundledPlugins } = options;
  const stores = await openStores(config, { ...options, clock, onFatal }, closers);
  const { models, registry } = stores;
  const stopping = new AbortController();
  const core = composeCore(config, { ...options, stores, clock, signal: stopping.signal });
  const levels = composeLevels({ ...stores, ...core });
  closers.add(async () => levels.stop());
  const declarer = composeDeclarer({ ...stores, ...core });
  closers.add(() => { declarer.stop(); });
  const access: Access = composeAccess({ config, tables: stores.access, eventLog: stores.eventLog, models, registry, clock, ...core, log: core.edge.log, routePluginOf: (segments) => pluginRoutes.pluginOf(segments), idleOf: (plugin) => host.idleOf(plugin), recheckStreams: (allows) => { pluginRoutes.recheck(allows); } });
  const { pluginRoutes, host, reconcilers: pluginReconcilers, installs } = composePlugins({ ...core.stores, ...core, config, declarer, platformVersion, suspects, authorize: access.authorizeStanding, ...bundledPlugins === undefined ? {} : { bundledPlugins } });
  const readiness = new Readiness(stores.eventLog, stores.agreement);
  const { authenticator } = access;
  const http = createHttpServer({
    ...core.edge, allowedHosts: config.allowedHosts, registry, reader: models, feed: models, execute: core.execute, memory: core.memory, pluginRoutes, version: platformVersion, readiness: () => readiness.reasons(), metrics: metricsOf(core, { readiness, eventLoop, pluginRoutes }),
    senderOf: createSenderOf(config.trustedProxies), refusals: access.refusals,
    authenticate: (shown) => authenticator.authenticate(shown),
    authorize: access.authorize, platformRoutes: [...access.routes, ...installs.routes], watch: createWatchEndpoints({ ...core.edge, hub: core.hub }),
  });

  const follower = new LogFollower({ config, log: stores.eventLog, models, clock, logger: core.edge.log, readiness, agreement: stores.agreement, onFatal });
  // Closed last of these: requests in flight end only once their events are folded.
  closers.add(async () => follower.stop());
  const reconcilers = composeReconcilers({ ...stores, ...core });
  closers.add(async () => reconcilers.stop());
  closers.add(async () => access.stop());
  closers.add(async () => pluginReconcilers.stop());
  closers.add(async () => core.leadership.stop().then(async () => host.stop()));
  const url = await listen(http.server, config, core.edge);
  closers.add(async () => {
    stopping.abort();
    core.hub.closeAll();
    pluginRoutes.closeStreams();
    await http.close(shutdownMs / 2);
  });
  onListening?.(url);
  // Beside the fold: rows of types that are not there yet get their index entries when their indexes are built.
  void host.loadTypes();
  await startUnless(signal, follower);
  const platformTypes = registry.all().map(({ type }) => type).filter(({ plugin }) => plugin === 'platform');
  for (const type of platformTypes) await models.buildIndexes(type);
  await levels.open();
  await declarer.declare(platformTypes);
  for (const { key } of platformTypes) registry.serve(key);
  // Not before: who asks while the tables are empty is told to come back, not that they may not.
  await access.open();
  reconcilers.open();
  core.leadership.start();
  readiness.done('read models');
  await applyRoles({ ...stores, ...core }, declarer);
  const { settled } = administer(access, log);
  await awaitPlugins({ host, readiness, clock, log: core.edge.log, signal });
  await installs.open();
  await settled;
  readiness.done('plugins');
  const ready = { log: stores.logName, events: models.folded(), types: registry.all().filter(({ serving }) => serving).length };
  return { url, ready, routes: () => http.routes(), reconcilers: () => core.bound.controllers(), close: async () => closers.closeAll() };
}

/** Only this may take for ever: what comes after it is soon done, and is then closed in order. */
async function startUnless(signal: AbortSignal | undefined, follower: LogFollower): Promise<void> {
  signal?.throwIfAborted();
  const giveUp = (): void => { void follower.stop(signal?.reason); };
  signal?.addEventListener('abort', giveUp);
  await follower.start();
  signal?.removeEventListener('abort', giveUp);
}

function metricsOf({ stores: { disk, models, registry, eventLog, resubscriptions }, hub, leadership, bound }: Core, { readiness, eventLoop, pluginRoutes }: { readonly readiness: Readiness; readonly eventLoop: EventLoopSource | undefined; readonly pluginRoutes: Plugins['pluginRoutes'] }): Metrics {
  return new Metrics({
    streamBufferBytes: () => hub.outboxes.budget.bytes,
    position: () => models.position(), watchers: () => hub.size, pluginStreams: () => pluginRoutes.streams(), isReady: () => readiness.reasons().length === 0,
    isLogReachable: () => eventLog.state().reachable, isLeader: () => leadership.isLeader(), resubscriptions, eventLoop, disk,
    controllers: () => bound.controllers(),
    objects: () => registry.all().map(({ type: { key } }) => ({ type: key, count: models.count(key) })),
  });
}

/**
 * Makes the super administrator at the first start: ready only once they are. Later starts only compare ADMIN_PASSWORD with
 * what is stored, which takes a tenth of a second of another core and holds up nothing.
 */
function administer(access: Access, log: Logger): { readonly settled: Promise<void> } {
  const isFirstStart = !access.isAdministered();
  const told = access.administer().then(({ notices }) => { for (const notice of notices) log.warn(notice); });
  if (isFirstStart) {
    // Awaited once the plugins have started: until then a failure must not count as one that nobody handles.
    told.catch(() => undefined);
    return { settled: told };
  }
  told.catch((error: unknown) => { log.error({ err: error }, 'could not compare ADMIN_PASSWORD'); });
  return { settled: Promise.resolve() };
}

type Core = Pick<PluginParts, 'edge' | 'loggerOf' | 'execute' | 'patiently' | 'hub' | 'leadership' | 'bound'> & {
  readonly stores: Stores;
  readonly node: string;
  readonly memory: RequestMemory;
};

/** The write door, who leads and what watches: everything between the stores and the edge. */
function composeCore(config: Config, { stores, log, clock, signal, streamBounds }: Pick<ServerOptions, 'streamBounds'> & { readonly stores: Stores; readonly log: Logger; readonly clock: Clock; readonly signal: AbortSignal }): Core {
  const { eventLog, models, disk } = stores;
  const edge = { domain: config.platformDomain, clock, log: loggerOf(log) };
  const { permissions } = stores.access;
  const writers = new Writers({
    clock, rates: writeRates(config.writesPerUser, config.writeBytesPerUser),
    isSuperAdministrator: (subject) => permissions.rightsOf(subject).isSuperAdministrator,
  });
  const held = new HeldBytes();
  const execute = createWriteDoor({
    writers, held,
    log: eventLog, reader: models, declarations: models.declarations, clock, domain: config.platformDomain, uuid: randomUUID, suffix: drawSuffix, lastEventTime: () => models.lastTime(), agreement: stores.agreement,
    rules: withStrategy(stores.access.rules, pluginKeyOf(config.platformDomain), pluginStrategy), secrets: stores.access.secrets, disk,
  });
  const node = randomUUID();
  const leadership = stores.isAlone ? alwaysLeading
    : new LeaseElector({ log: eventLog, clock, uuid: randomUUID, node, onError: (error) => { log.error({ err: error }, 'this node cannot become the leader: cannot read the lease'); } });
  const hub = new WatchHub({ feed: models, reader: models, log: eventLog, clock, outboxes: new Outboxes(clock, streamBounds), report: (error) => { log.error({ err: error }, 'a watch failed'); } });
  const memory = new RequestMemory({ held, writers });
  return { stores, edge, memory, node, loggerOf: (plugin) => loggerOf(log.child({ plugin })), execute, patiently: patient(execute, { clock, signal }), hub, leadership, bound: new ReconcileBound(clock) };
}

type Stores = {
  readonly eventLog: FoundedLog;
  readonly logName: OpenedLog['name'];
  /** An embedded log has one node: its directory is locked. */
  readonly isAlone: boolean;
  /** How often the log was followed anew after a subscription was lost. */
  readonly resubscriptions: () => number;
  readonly models: ObjectModels;
  readonly agreement: ClockAgreement;
  readonly registry: TypeRegistry;
  readonly access: AccessTables;
  readonly packages: Packages;
  readonly disk: DiskReserve;
};

/** The log, the tables folded from it, and the types they are folded by. */
async function openStores(config: Config, { clock, onFatal, log, openLog = openConfiguredLog, passwords = new Passwords() }: ServerOptions & { readonly clock: Clock; readonly onFatal: (error: Error) => void }, closers: Closers): Promise<Stores> {
  refuseFullDisk(config.dataDir);
  const lock = await takeDataDir(config.dataDir);
  closers.add(async () => lock.release());
  tightenDataDir(config.dataDir);
  const watched = { dir: config.dataDir, reserveBytes: config.diskReserveBytes, clock, log: loggerOf(log) };
  const disk = new DiskReserve(diskSpaceNow(config.dataDir), watched);
  closers.add(() => { disk.stop(); });
  let resubscriptions = 0;
  const onResubscribed = (): void => { resubscriptions += 1; };
  const onState = (state: LogState): void => {
    if (state.reachable) log.info('the event log answers');
    else log.warn({ reason: state.reason }, 'the event log is unreachable');
  };
  const opened = await openLog(config, { clock, onFatal, onState, onResubscribed });
  const eventLog = new FoundedLog(opened.log);
  const agreement = new ClockAgreement(clock, eventLog);
  closers.add(async () => eventLog.close());
  const tablesDir = privateDir(join(config.dataDir, 'read-models'));
  refuseDamagedFile(join(tablesDir, 'tables.mdb'), `remove ${tablesDir}: the server rebuilds it from the log`);
  const tables = new LmdbTables(tablesDir, prepareStoreFiles);
  closers.add(async () => tables.close());
  const registry = new TypeRegistry();
  const plugins = compileType(pluginTypeDeclaration(config.platformDomain), { plugin: 'platform', bundled: true, domain: config.platformDomain, by: { version: platformVersion, source: 'platform' } });
  if (!plugins.ok) throw new Error(plugins.problems.join('; '));
  for (const type of [plugins.type, ...compilePlatformTypes(config.platformDomain, platformVersion)]) registry.register(type);
  const models = new ObjectModels({ tables, identity: () => eventLog.identity(), types: (key) => registry.byKey(key)?.type, clock, latestTime: () => agreement.latest(), onUnindexed: (type, unindexed) => { log.warn({ plugin: type.plugin, type: type.key, ...unindexed }, 'an index function fails for stored objects: they have no value in its index'); } });
  registry.subscribe(({ type }, change) => { if (change === 'removed') models.dropIndexes(type.key); });
  const packages = await openPackages({ config, eventLog, models, clock });
  const access = composeTables({ models, eventLog, clock, domain: config.platformDomain, passwords, registry });
  return { eventLog, logName: opened.name, isAlone: opened.name === 'embedded log', resubscriptions: () => resubscriptions, models, agreement, registry, access, packages, disk };
}

function endProcess(log: Logger): (error: Error) => void {
  return (error) => {
    log.fatal({ err: error }, 'the log or the read models failed');
    process.exit(1);
  };
}
