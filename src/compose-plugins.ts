import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';

import type { ObjectModels } from '../projections/object-models.ts';
import type { ReconcileBound } from '../reconcilers/bound.ts';
import type { Elector } from '../reconcilers/lease.ts';
import { PluginReconcilers } from '../reconcilers/plugin-reconcilers.ts';
import type { Authorize } from './auth/authorize.ts';
import type { Clock } from './base/clock.ts';
import { composeInstalls, type Installs } from './compose-packages.ts';
import type { Config } from './config.ts';
import type { DiskReserve } from './disk/disk-reserve.ts';
import type { Execute } from './execute.ts';
import { PluginRoutes } from './http/plugin-routes.ts';
import { problems } from './http/problem.ts';
import type { Suspects } from './plugin/blamed-plugin.ts';
import { authorizePlugin, authorizeUntil, createClient, type ClientBinding } from './plugin/client.ts';
import { PluginHost } from './plugin/host.ts';
import type { TypeDeclarer } from './plugin/incarnation.ts';
import { LoadMarks } from './plugin/load-marks.ts';
import { asPluginObject } from './plugin/load-object.ts';
import type { Packages } from './plugin/packages.ts';
import type { PluginLogger } from './plugin/plugin.ts';
import type { TypeRegistry } from './plugin/type-registry.ts';
import type { WatchHub } from './watch/hub.ts';

/** What plugins are put together from: each is the server's own. */
export type PluginParts = {
  readonly config: Config;
  /** Folders of plugins that may do what only the platform's own may; those beside the sources without. */
  readonly bundledPlugins?: readonly string[];
  readonly platformVersion: string;
  readonly suspects: Suspects;
  readonly registry: TypeRegistry;
  readonly models: ObjectModels;
  readonly packages: Packages;
  readonly disk: DiskReserve;
  readonly edge: { readonly domain: string; readonly clock: Clock; readonly log: PluginLogger };
  readonly loggerOf: (plugin: string) => PluginLogger;
  readonly execute: Execute;
  /** The same for what must be written: it waits for a log that does not answer. */
  readonly patiently: Execute;
  readonly hub: WatchHub;
  readonly leadership: Elector;
  readonly declarer: TypeDeclarer;
  /** Over the reconcilers of the platform and of plugins. */
  readonly bound: ReconcileBound;
  readonly authorize: Authorize;
};

export type Plugins = { readonly pluginRoutes: PluginRoutes; readonly host: PluginHost; readonly reconcilers: PluginReconcilers; readonly installs: Installs };

/** Plugins and everything they are given: the host, what serves their routes, and clients bound to rights. */
export function composePlugins(parts: PluginParts): Plugins {
  const { config, bundledPlugins = [besideSources], platformVersion, suspects, registry, models, packages, disk } = parts;
  const { edge, loggerOf, execute, patiently, hub, leadership, declarer, bound, authorize } = parts;
  const clientPorts = { registry, reader: models, execute, refusalOf: (reason: keyof typeof problems) => problems[reason] };
  const ownOf = (plugin: string, requestId: string): ClientBinding =>
    ({ authorize: authorizePlugin(registry, plugin), subject: { kind: 'plugin', name: plugin }, cause: { requestId, plugin } });
  const pluginRoutes = new PluginRoutes({
    outboxes: hub.outboxes, clock: edge.clock, log: edge.log, loggerOf, allows: (subject, request) => authorize(subject, request).allowed,
    clientsOf: (plugin, { subject, requestId, sender: { address } }) => {
      const own = ownOf(plugin, requestId);
      const cause = { ...own.cause, ...(address === '' ? {} : { address }) };
      return {
        client: createClient(clientPorts, { authorize: (request) => authorize(subject, request), subject, cause }),
        // What a caller has a plugin write is their doing, whosever rights it is done with.
        pluginClient: createClient(clientPorts, { ...own, cause, chargedTo: subject }),
      };
    },
  });
  const reconcilers = new PluginReconcilers({
    changes: models, reader: models, bound, leadership, clock: edge.clock, loggerOf, parse: asPluginObject, placeOf: (plugin, stack) => suspects.placeOf(plugin, stack),
    clientOf: (plugin, isOver) => {
      const own = ownOf(plugin, randomUUID());
      return createClient(clientPorts, { ...own, authorize: authorizeUntil(isOver, own.authorize) });
    },
  });
  const loadMarks = new LoadMarks(join(config.dataDir, 'plugin-loads'), randomUUID(), edge.log);
  const host = new PluginHost({
    ...edge, loadMarks, registry, execute: patiently, reader: models, changes: models, leadership, declarer, routes: pluginRoutes, reconcilers, uuid: randomUUID, loggerOf,
    platformVersion, suspects, folders: { bundled: bundledPlugins, extra: config.pluginsDirs }, keptOff: new Set(config.pluginsDisabled), packages,
    namesOf: (type, page) => models.namesOf(type, page),
    buildIndexes: async (type, onProgress) => models.buildIndexes(type, onProgress), closeWatches: (type) => { hub.closeType(type); },
  });
  const loading = { registry, loggerOf, platformVersion, suspects, loadMarks };
  const installs = composeInstalls({ ...edge, ...loading, execute, packages, host, models, disk });
  return { pluginRoutes, host, reconcilers, installs };
}

/** Compiled, this file is dist/src/compose-plugins.js: the bundled plugins are beside its folder. */
const besideSources = resolve(import.meta.dirname, '../plugins');
