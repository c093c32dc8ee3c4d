import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';

import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { alwaysLeading, LeaseElector, type Elector } from '../../../reconcilers/lease.ts';
import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import { drawSuffix } from '../draw-suffix.ts';
import { createWriteDoor, type Execute } from '../../write/execute.ts';
import { RequestMemory } from '../../http/body/request-memory.ts';
import { patient } from '../patient-execute.ts';
import { loggerOf } from '../plugin-logger.ts';
import { pluginKeyOf, pluginStrategy } from '../../plugin/objects/plugin-type.ts';
import type { PluginLogger } from '../../plugin/api/plugin.ts';
import { WatchHub } from '../../watch/hub.ts';
import { Outboxes, type OutboxBounds } from '../../watch/outbox.ts';
import { withStrategy } from '../../write/rules.ts';
import { HeldBytes } from '../../write/admission/held-bytes.ts';
import { WatchedHooks } from '../../write/hook-watch.ts';
import { Unsettled } from '../../write/unsettled.ts';
import { writeRates } from '../../write/admission/writer.ts';
import { Writers } from '../../write/admission/writers.ts';
import type { Stores } from './stores.ts';

/** The parts that all layers between the stores and the HTTP server share. */
export type Core = Stores & {
  readonly config: Config;
  readonly edge: { readonly domain: string; readonly clock: Clock; readonly log: PluginLogger };
  /** Creates a logger for the lines of one plugin. */
  readonly loggerOf: (plugin: string) => PluginLogger;
  /** The random id of this process among the nodes of its log. Each start has a new id. */
  readonly node: string;
  readonly memory: RequestMemory;
  /** The pending appends of this process to streams of objects. */
  readonly unsettled: Unsettled;
  readonly execute: Execute;
  /** The measured hooks of types. */
  readonly hooks: WatchedHooks;
  /** The write path for the node's own writes, which retries while the log is unavailable. */
  readonly patiently: Execute;
  readonly hub: WatchHub;
  readonly leadership: Elector;
  /** Limits the reconcilers of the platform and of plugins. */
  readonly bound: ReconcileSlots;
};

export type CoreOptions = {
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborted when this node stops. */
  readonly signal: AbortSignal;
  /** Limits of unread data of watches and streams. */
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

function watchHooks(log: CoreOptions['log'], clock: Clock): WatchedHooks {
  return new WatchedHooks({
    clock,
    warn: (plugin, message, fields) => {
      loggerOf(log.child({ plugin })).warn(message, fields);
    },
  });
}

/** Composes the write path, the leader election, and the watch hub. */
export function composeCore(config: Config, stores: Stores, { log, clock, signal, streamBounds }: CoreOptions): Core {
  const {
    eventLog,
    models,
    disk,
    accessTables: { permissions, rules, secrets },
  } = stores;
  const domain = config.platformDomain;
  const writers = limitWriters(config, permissions, clock);
  const held = new HeldBytes();
  const unsettled = new Unsettled({ reader: models, declarations: models.declarations });
  const hooks = watchHooks(log, clock);
  const execute = createWriteDoor({
    writers,
    held,
    unsettled,
    log: eventLog,
    reader: models,
    declarations: models.declarations,
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
  const node = randomUUID();
  const logged = (message: string) => (error: unknown) => {
    log.error({ err: error }, message);
  };
  return {
    ...stores,
    config,
    hooks,
    node,
    unsettled,
    execute,
    edge: { domain, clock, log: loggerOf(log) },
    loggerOf: (plugin) => loggerOf(log.child({ plugin })),
    memory: new RequestMemory({ held, writers, clock }),
    patiently: patient(execute, { clock, signal }),
    hub: new WatchHub({
      feed: models,
      reader: models,
      log: eventLog,
      clock,
      outboxes: new Outboxes(clock, streamBounds),
      report: logged('a watch failed'),
    }),
    leadership: stores.isAlone
      ? alwaysLeading
      : new LeaseElector({ log: eventLog, clock, uuid: randomUUID, node, onError: logged(leaseUnreadable) }),
    bound: new ReconcileSlots(clock),
  };
}
