import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';

import type { PluginStep } from '../../../reconcilers/plugins/plugin-reconciler.ts';
import { PluginReconcilers } from '../../../reconcilers/plugins/plugin-reconcilers.ts';
import type { Authorize } from '../../auth/authorization/authorize.ts';
import { frontEndRoutes } from '../../http/console/front-ends.ts';
import { composeInstalls, endlessCodeCheck, storedVersionsCheck, type Installs } from './compose-packages.ts';
import type { CallPorts } from '../../http/plugin-routes/plugin-request.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { pluginLogRoutes } from '../../http/platform/plugin-log-routes.ts';
import { PluginRoutes } from '../../http/plugin-routes/plugin-routes.ts';
import { problems } from '../../http/problem.ts';
import { platformVersion } from '../platform-version.ts';
import type { CodeFolders } from '../../plugin/errors/error-attribution.ts';
import { authorizePlugin, authorizeUntil, createClient, type ClientBinding } from '../../plugin/client.ts';
import type { Client } from '../../plugin/api/plugin.ts';
import { PluginHost } from '../../plugin/lifecycle/host.ts';
import type { TypeDeclarer } from '../../plugin/lifecycle/incarnation.ts';
import { LoadMarks } from '../../plugin/load/load-marks.ts';
import { asPluginObject } from '../../plugin/objects/load-object.ts';
import type { UniqueSteps } from '../../read/uniqueness.ts';
import type { Core } from './core.ts';
import { composeUpgrades, type Upgrades } from './upgrades/compose-upgrades.ts';

export type PluginParts = Core & {
  /** Plugin folders with the privileges of bundled plugins. The default is dist/plugins. */
  readonly bundledPlugins: readonly string[] | undefined;
  readonly suspects: CodeFolders;
  readonly declarer: TypeDeclarer;
  readonly unique: UniqueSteps;
  readonly authorize: Authorize;
  readonly platformPaths: () => readonly string[];
};

export type Plugins = {
  readonly pluginRoutes: PluginRoutes;
  readonly host: PluginHost;
  readonly reconcilers: PluginReconcilers;
  readonly installs: Installs;
  readonly upgrades: Upgrades;
  stop(): Promise<void>;
};

export function composePlugins(parts: PluginParts): Plugins {
  const { config, bundledPlugins = [besideSources], suspects, registry, models, packages } = parts;
  const { edge, loggerOf, patiently, hub, leadership, declarer, unique, platformPaths } = parts;
  const clients = createClients(parts);
  const pluginRoutes = composeRoutes(parts, clients);
  const reconcilers = new PluginReconcilers({
    changes: models,
    reader: models,
    bound: parts.bound,
    leadership,
    clock: edge.clock,
    loggerOf,
    parse: asPluginObject,
    placeOf: (plugin, stack) => suspects.placeOf(plugin, stack),
    clientOf: clients.ofStep,
    uuid: randomUUID,
  });
  const upgrades = composeUpgrades(parts, () => host.objects);
  const loadMarks = new LoadMarks(join(config.dataDir, 'plugin-loads'), randomUUID(), edge.log);
  const loading = { registry, loggerOf, platformVersion, suspects, loadMarks };
  const host: PluginHost = new PluginHost({
    ...edge,
    ...loading,
    execute: patiently,
    reader: models,
    changes: models,
    leadership,
    declarer,
    unique,
    platformPaths,
    storedVersionProblems: storedVersionsCheck({ models, clock: edge.clock }),
    endlessCode: endlessCodeCheck({ models, suspects, clock: edge.clock, host: () => host }),
    checks: upgrades.checks,
    migrations: upgrades.migrations,
    frontEnds: parts.frontEnds,
    routes: pluginRoutes,
    reconcilers,
    uuid: randomUUID,
    packages,
    folders: { bundled: bundledPlugins, extra: config.pluginsDirs },
    disabledPlugins: new Set(config.pluginsDisabled),
    namesOf: (type, page) => models.namesOf(type, page),
    buildIndexes: async (type, onProgress) => models.buildIndexes(type, onProgress),
    closeWatches: (type) => {
      hub.closeType(type);
    },
  });
  const installs = composeInstalls({ ...parts, ...edge, ...loading, host });
  return {
    pluginRoutes,
    host,
    reconcilers,
    upgrades,
    installs: { ...installs, routes: [...installs.routes, ...shownRoutes(parts, host)] },
    stop: async () => stopAll([upgrades, host, reconcilers]),
  };
}

/** Creates the routes of plugins' logs and front ends. */
function shownRoutes(
  { config, edge: { domain }, pluginLogs, frontEnds }: PluginParts,
  host: PluginHost,
): readonly PlatformRoute[] {
  const isPlugin = (name: string): boolean => host.objects.desired(name) !== undefined;
  return [
    ...pluginLogRoutes({ domain, logs: pluginLogs, isPlugin }),
    ...(config.console === 'on' ? frontEndRoutes(domain, frontEnds) : []),
  ];
}

async function stopAll(parts: readonly { stop(): Promise<void> }[]): Promise<void> {
  for (const part of parts) await part.stop();
}

type Clients = {
  /** Creates two clients for a request: with the rights of the caller, and with the rights of the plugin. */
  readonly ofRequest: CallPorts['clientsOf'];
  /** Creates a client for one step of a reconciler. The client has the plugin's rights until the reconciler stops. */
  readonly ofStep: (plugin: string, step: PluginStep) => Client;
};

function createClients({ registry, models, execute, authorize }: PluginParts): Clients {
  const ports = {
    registry,
    reader: models,
    execute,
    refusalOf: (reason: keyof typeof problems) => problems[reason],
  };
  const ownOf = (plugin: string, requestId: () => string): ClientBinding => ({
    authorize: authorizePlugin(registry, plugin),
    subject: { kind: 'plugin', name: plugin },
    cause: () => ({ requestId: requestId(), plugin }),
  });
  return {
    ofRequest: (plugin, { subject, cause: { actor, verb: _verb, ...request }, isOver }) => {
      const own = ownOf(plugin, () => request.requestId);
      const cause = { ...request, plugin };
      const onBehalf = { onBehalfOf: actor, ...cause };
      return {
        client: createClient(ports, {
          authorize: (wanted) => authorize(subject, wanted),
          subject,
          cause: () => cause,
        }),
        // The plugin may use its client after the request. Such later writes are not attributed to the caller.
        pluginClient: createClient(ports, {
          ...own,
          cause: () => (isOver() ? own.cause() : onBehalf),
          // The caller is charged even for a write with the plugin's rights.
          chargedTo: subject,
          chargedFrom: request.address ?? '',
        }),
      };
    },
    ofStep: (plugin, { isOver, causedBy, requestId }) => {
      const own = ownOf(plugin, requestId);
      return createClient(ports, { ...own, causedBy, authorize: authorizeUntil(isOver, own.authorize) });
    },
  };
}

function composeRoutes(
  { hub, edge: { clock, log }, loggerOf, authorize }: PluginParts,
  clients: Clients,
): PluginRoutes {
  return new PluginRoutes({
    outboxes: hub.outboxes,
    clock,
    log,
    loggerOf,
    clientsOf: clients.ofRequest,
    allows: (subject, request) => authorize(subject, request).allowed,
  });
}

/** The compiled file is dist/src/server/compose/compose-plugins.js, and the bundled plugins are in dist/plugins. */
const besideSources = resolve(import.meta.dirname, '../../../plugins');
