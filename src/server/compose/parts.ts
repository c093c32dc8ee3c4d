import type { Declarer } from '../../../reconcilers/platform/declarer.ts';
import { AuditFollower } from '../follow-audit.ts';
import { LogFollower } from '../follow-log.ts';
import type { CodeFolders } from '../../plugin/errors/error-attribution.ts';
import { Readiness } from '../readiness.ts';
import { composeAccess, type Access } from './access/compose-access.ts';
import { composeDeclarer } from './compose-declarer.ts';
import { composeEvents, type ComposedEvents } from './compose-events.ts';
import { composeLevels, type NodeLevels } from './compose-levels.ts';
import { composePlugins, type Plugins } from './compose-plugins.ts';
import { composeBackups, type ComposedBackups } from './compose-backups.ts';
import { composeReplays, type ComposedReplays } from './compose-replays.ts';
import { composeReconcilers, type Reconcilers } from './compose-reconcilers.ts';
import type { LeftOutError } from '../../audit/tree/leaf-check.ts';
import { composeOperation, type Operation } from './compose-operation.ts';
import { composeTree, type ComposedTree } from './compose-tree.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { composeUniqueness, type UniqueIndexes } from './compose-uniqueness.ts';
import type { Core } from './core.ts';
import type { Startup } from '../startup.ts';

/** The parts that are composed before the server listens, and stopped after the server has closed. */
export type Parts = {
  readonly levels: NodeLevels;
  readonly declarer: Declarer;
  readonly access: Access;
  readonly plugins: Plugins;
  readonly readiness: Readiness;
  readonly follower: LogFollower;
  readonly auditFollower: AuditFollower;
  readonly reconcilers: Reconcilers;
  readonly unique: UniqueIndexes;
  readonly replays: ComposedReplays;
  readonly tree: ComposedTree;
  readonly events: ComposedEvents;
  readonly backups: ComposedBackups;
  readonly operation: Operation;
  readonly platformRoutes: readonly PlatformRoute[];
};

export type PartsOptions = {
  readonly suspects: CodeFolders;
  readonly bundledPlugins?: readonly string[];
  readonly onFatal: (error: Error) => void;
};

type GuardedOptions = Pick<PartsOptions, 'suspects' | 'bundledPlugins'> & {
  /** Returns the paths of the platform's routes. Must be called after all parts are composed. */
  readonly platformPaths: () => readonly string[];
};

export async function composeParts(core: Core, options: PartsOptions, startup: Startup): Promise<Parts> {
  const { leadership, agreement, eventLog } = core;
  const levels = await startup.phase(
    'compose the level',
    () => composeLevels(core),
    async (all) => all.stop(),
  );
  const declarer = await startup.phase(
    'compose declarations',
    () => composeDeclarer(core),
    (one) => {
      one.stop();
    },
  );
  const readiness = new Readiness(eventLog, agreement);
  const follower = await openFollower(core, readiness, options, startup);
  const auditFollower = await openAuditFollower(core, options, startup);
  const reconcilers = await startup.phase(
    'compose reconcilers',
    () => composeReconcilers(core),
    async (all) => all.stop(),
  );
  const unique = await startup.phase(
    'compose unique indexes',
    () => composeUniqueness(core),
    async (all) => all.stop(),
  );
  const platformRoutes: PlatformRoute[] = [];
  const guarded = composeGuarded(
    core,
    { declarer, unique },
    {
      ...options,
      platformPaths: () => platformRoutes.map(({ path }) => path),
    },
  );
  await openGuarded(guarded, leadership, startup);
  const replays = await openReplays(core, guarded.access, startup);
  const proving = await openProving(core, auditFollower, startup);
  const { access, plugins, events } = guarded;
  const operation = await startup.phase(
    'compose the operation',
    () => composeOperation(core, { authorize: access.authorize, dependents: reconcilers.dependents }),
    async (one) => one.stop(),
  );
  platformRoutes.push(
    ...routesOf([access, plugins.installs, replays, proving.tree, events, proving.backups, operation]),
  );
  const folds = { follower, auditFollower };
  const own = { levels, declarer, readiness, reconcilers, unique, replays, operation, platformRoutes };
  return { ...guarded, ...folds, ...own, ...proving };
}

async function openGuarded(
  { access, plugins }: Pick<Parts, 'access' | 'plugins'>,
  leadership: Core['leadership'],
  startup: Startup,
): Promise<void> {
  await startup.phase(
    'compose access control',
    () => access,
    async (one) => one.stop(),
  );
  await startup.phase(
    'compose plugins',
    () => plugins,
    async (all) => {
      await leadership.stop();
      await all.stop();
    },
  );
}

function routesOf(parts: readonly { readonly routes: readonly PlatformRoute[] }[]): readonly PlatformRoute[] {
  return parts.flatMap(({ routes }) => routes);
}

/**
 * Composes the fold of the log. The fold stops after all writers, because requests in flight end only when their events
 * are folded.
 */
async function openFollower(
  core: Core,
  readiness: Readiness,
  { onFatal }: PartsOptions,
  startup: Startup,
): Promise<LogFollower> {
  const { edge, eventLog } = core;
  return startup.phase(
    'compose the fold',
    () => new LogFollower({ ...core, log: eventLog, clock: edge.clock, logger: edge.log, readiness, onFatal }),
    async (one) => one.stop(),
  );
}

async function openAuditFollower(
  { config, eventLog, audit, edge }: Core,
  { onFatal }: PartsOptions,
  startup: Startup,
): Promise<AuditFollower> {
  return startup.phase(
    'compose the audit fold',
    () =>
      new AuditFollower({
        config,
        onFatal,
        log: eventLog,
        audit: audit.models,
        columns: audit.columns,
        clock: edge.clock,
        logger: edge.log,
      }),
    async (one) => one.stop(),
  );
}

async function openTree(core: Core, follower: AuditFollower, startup: Startup): Promise<ComposedTree> {
  const onLeftOut = (error: LeftOutError): void => void follower.leftOut(error);
  return startup.phase(
    'compose the tree',
    async () => composeTree(core, onLeftOut),
    async (one) => one.stop(),
  );
}

async function openReplays(core: Core, { authorize }: Access, startup: Startup): Promise<ComposedReplays> {
  return startup.phase(
    'compose replays',
    () => composeReplays(core, authorize),
    async (all) => all.stop(),
  );
}

/** Composes the tree before the backups, because a backup ends at a signed checkpoint of the tree. */
async function openProving(
  core: Core,
  follower: AuditFollower,
  startup: Startup,
): Promise<Pick<Parts, 'tree' | 'backups'>> {
  const tree = await openTree(core, follower, startup);
  const backups = await startup.phase(
    'compose backups',
    () => composeBackups(core, tree.reader),
    async (all) => all.stop(),
  );
  return { tree, backups };
}

/** Composes access control and plugins together, because each needs the other. */
function composeGuarded(
  core: Core,
  declared: Pick<Parts, 'declarer' | 'unique'>,
  { suspects, bundledPlugins, platformPaths }: GuardedOptions,
): Pick<Parts, 'access' | 'plugins' | 'events'> {
  const access: Access = composeAccess({
    ...core,
    routePluginOf: (segments) => plugins.pluginRoutes.pluginOf(segments),
    pluginRoutes: () => plugins.pluginRoutes.all(),
    idleOf: (plugin) => plugins.host.idleOf(plugin),
    recheckStreams: (allows) => {
      plugins.pluginRoutes.recheck(allows);
      events.recheck(allows);
    },
  });
  const plugins: Plugins = composePlugins({
    ...core,
    ...declared,
    suspects,
    bundledPlugins,
    platformPaths,
    authorize: access.authorizeStanding,
  });
  const events: ComposedEvents = composeEvents(core, access.authorize);
  return { access, plugins, events };
}
