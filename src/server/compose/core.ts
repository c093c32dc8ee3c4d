import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';

import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { alwaysLeading, LeaseElector, type Elector } from '../../../reconcilers/lease.ts';
import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import type { NodeDescription } from '../../read/operation/nodes.ts';
import { platformVersion } from '../platform-version.ts';
import { drawSuffix } from '../draw-suffix.ts';
import { createWriteDoor, type Execute } from '../../write/execute.ts';
import { FrontEnds } from '../../http/console/front-ends.ts';
import { KeptFiles } from '../../http/console/kept-files.ts';
import { webFilesKeptBytesMax } from '../../limits/plugins.ts';
import { RequestMemory } from '../../http/body/request-memory.ts';
import { patient } from '../patient-execute.ts';
import { recordedLoggerOf } from '../plugin-logger.ts';
import { pluginKeyOf, pluginStrategy } from '../../plugin/objects/plugin-type.ts';
import type { CodeFolders } from '../../plugin/errors/error-attribution.ts';
import { PluginLogs } from '../../plugin/logs/plugin-logs.ts';
import type { PluginLogger } from '../../plugin/api/plugin.ts';
import { WatchHub } from '../../watch/hub.ts';
import { Outboxes, type OutboxBounds } from '../../watch/outbox.ts';
import { withStrategy } from '../../write/rules.ts';
import { HeldBytes } from '../../write/admission/held-bytes.ts';
import { WatchedConversions } from '../../write/conversion-watch.ts';
import { WatchedHooks } from '../../write/hook-watch.ts';
import type { SlowCallsDependencies } from '../../command/hooks/slow-calls.ts';
import { Unsettled } from '../../write/unsettled.ts';
import { UpgradeWaits, type UpgradeWaitsDependencies } from '../../write/admission/upgrade-waits.ts';
import { writeRates } from '../../write/admission/writer.ts';
import { Writers } from '../../write/admission/writers.ts';
import type { Stores } from './stores.ts';

/** The parts that all layers between the stores and the HTTP server share. */
export type Core = Stores & {
  readonly config: Config;
  readonly edge: {
    readonly domain: string;
    readonly clock: Clock;
    readonly log: PluginLogger;
  };
  readonly loggerOf: (plugin: string) => PluginLogger;
  readonly pluginLogs: PluginLogs;
  readonly frontEnds: FrontEnds;
  /** The id of this process among the nodes of its log. Each start has a new random id. */
  readonly node: string;
  /** Returns the description of this node for operators. */
  readonly describe: () => NodeDescription;
  readonly memory: RequestMemory;
  /** The pending appends of this process to streams of objects. */
  readonly unsettled: Unsettled;
  readonly upgradeWaits: UpgradeWaits;
  readonly execute: Execute;
  readonly hooks: WatchedHooks;
  readonly conversions: WatchedConversions;
  /** The write path for the node's own writes. Retries while the log is unavailable. */
  readonly patiently: Execute;
  readonly hub: WatchHub;
  readonly leadership: Elector;
  /** Limits the concurrent reconcile steps of the platform and of plugins. */
  readonly bound: ReconcileSlots;
  /** Aborted when this node stops. */
  readonly signal: AbortSignal;
};

export type CoreOptions = {
  readonly log: Logger;
  readonly clock: Clock;
  readonly suspects: CodeFolders;
  /** Aborted when this node stops. */
  readonly signal: AbortSignal;
  /** Limits the unread data of watches and streams. */
  readonly streamBounds?: OutboxBounds;
};

const leaseUnreadable = 'this node cannot become the leader: cannot read the lease';

function limitWriters(
  { writesPerUser, writeBytesPerUser }: Config,
  permissions: Stores['accessTables']['permissions'],
  clock: Clock,
): Writers {
  return new Writers({
    clock,
    rates: writeRates(writesPerUser, writeBytesPerUser),
    isSuperAdministrator: (subject) => permissions.rightsOf(subject).isSuperAdministrator,
  });
}

/** Composes the write path, the leader election, and the watch hub. */
export function composeCore(config: Config, stores: Stores, options: CoreOptions): Core {
  const { log, clock, signal } = options;
  const { eventLog, models, disk, accessTables } = stores;
  const { permissions, rules, secrets } = accessTables;
  const domain = config.platformDomain;
  const node = randomUUID();
  const loggers = composeLoggers({ ...options, domain, node });
  const writers = limitWriters(config, permissions, clock);
  const held = new HeldBytes();
  const unsettled = new Unsettled({ reader: models, declarations: models.declarations });
  const upgradeWaits = composeUpgradeWaits(stores, { clock, held, signal });
  const { hooks, conversions } = composeWatches(clock, loggers);
  conversions.follow(stores.registry);
  const execute = createWriteDoor({
    writers,
    held,
    unsettled,
    upgradeWaits,
    log: eventLog,
    reader: models,
    declarations: models.declarations,
    references: models.references,
    typeOf: (key) => stores.registry.byKey(key)?.type,
    servedType: (key) => stores.registry.servedByKey(key),
    clock,
    domain,
    uuid: randomUUID,
    suffix: drawSuffix,
    lastEventTime: () => models.lastTime(),
    agreement: stores.agreement,
    rules: withStrategy(rules, pluginKeyOf(domain), pluginStrategy),
    secrets,
    disk,
    hookWatch: hooks,
  });
  return {
    ...stores,
    config,
    frontEnds: new FrontEnds(new KeptFiles(webFilesKeptBytesMax)),
    hooks,
    conversions,
    node,
    describe: describeNode(clock, () => models.position()),
    unsettled,
    upgradeWaits,
    execute,
    ...loggers,
    memory: new RequestMemory({ held, writers, clock }),
    patiently: patient(execute, { clock, signal }),
    hub: composeHub(stores, options),
    leadership: stores.isAlone
      ? alwaysLeading
      : new LeaseElector({ log: eventLog, clock, uuid: randomUUID, node, onError: logged(log, leaseUnreadable) }),
    bound: new ReconcileSlots(clock),
    signal,
  };
}

function composeUpgradeWaits({ models, registry }: Stores, dependencies: UpgradeWaitsDependencies): UpgradeWaits {
  const waits = new UpgradeWaits(dependencies);
  models.declarations.subscribe(waits.changed);
  registry.subscribe(waits.changed);
  registry.onReload(waits.changed);
  return waits;
}

function composeHub({ models, eventLog }: Stores, { log, clock, streamBounds }: CoreOptions): WatchHub {
  return new WatchHub({
    feed: models,
    reader: models,
    log: eventLog,
    clock,
    outboxes: new Outboxes(clock, streamBounds),
    report: logged(log, 'a watch failed'),
  });
}

function logged(log: Logger, message: string): (error: unknown) => void {
  return (error) => {
    log.error({ err: error }, message);
  };
}

/** Returns a function that describes this node to operators. */
function describeNode(clock: Clock, position: () => bigint): () => NodeDescription {
  const self = { host: hostname(), version: platformVersion, since: new Date(clock.now()).toISOString() };
  return () => ({ ...self, position: position().toString() });
}

function composeWatches(clock: Clock, { loggerOf }: Loggers): Pick<Core, 'hooks' | 'conversions'> {
  const warn: SlowCallsDependencies['warn'] = (plugin, message, fields) => {
    loggerOf(plugin).warn(message, fields);
  };
  return { hooks: new WatchedHooks({ clock, warn }), conversions: new WatchedConversions({ clock, warn }) };
}

type Loggers = Pick<Core, 'edge' | 'loggerOf' | 'pluginLogs'>;

/** The loggers also keep the lines of each plugin for `plugin logs`. */
function composeLoggers({
  log,
  clock,
  suspects,
  domain,
  node,
}: Pick<CoreOptions, 'log' | 'clock' | 'suspects'> & Pick<Core, 'node'> & { readonly domain: string }): Loggers {
  const pluginLogs = new PluginLogs(node);
  const recording = {
    logs: pluginLogs,
    clock,
    inSources: (stack: string) => suspects.inSources(stack),
  };
  const ofPlatform = recordedLoggerOf(log, { ...recording, plugin: undefined });
  return {
    pluginLogs,
    edge: { domain, clock, log: ofPlatform },
    loggerOf: (plugin) => recordedLoggerOf(log.child({ plugin }), { ...recording, plugin }),
  };
}
