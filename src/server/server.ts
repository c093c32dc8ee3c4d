import type { Logger } from 'pino';

import type { Measured } from '../../reconcilers/reconcile-slots.ts';
import type { Passwords } from '../auth/passwords/password.ts';
import { awaitPlugins } from './await-plugins.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { serviceController } from '../base/service-controller.ts';
import type { Config } from '../config/config.ts';
import type { LogFollower } from './follow-log.ts';
import { createHttpServer, type HttpServer } from '../http/http-server.ts';
import type { EventLoopSource } from '../http/metrics.ts';
import { createSenderOf } from '../http/client/client-address.ts';
import { createWatchEndpoints } from '../http/watch/watch-endpoints.ts';
import { shutdownMs } from '../limits/requests.ts';
import { listen } from './listen.ts';
import type { OpenedLog, OpenLog } from './open-log.ts';
import { platformVersion } from './platform-version.ts';
import { loggerOf } from './plugin-logger.ts';
import { CodeFolders } from '../plugin/errors/error-attribution.ts';
import type { Access } from './compose/access/compose-access.ts';
import { composeMetrics } from './compose/compose-metrics.ts';
import { applyRoles } from './compose/compose-roles.ts';
import { composeCore, type Core } from './compose/core.ts';
import { composeParts, type Parts } from './compose/parts.ts';
import type { Upgrades } from './compose/upgrades/compose-upgrades.ts';
import { Startup } from './startup.ts';
import { openStores } from './compose/stores.ts';
import { openCertificates, type Certificates } from './tls/certificates.ts';
import type { OutboxBounds } from '../watch/outbox.ts';

export type RunningServer = {
  readonly url: string;
  /** The kind of the log, and the numbers of folded events and of served types when the server became ready. */
  readonly ready: {
    readonly log: OpenedLog['name'];
    readonly events: number;
    readonly types: number;
  };
  /** All methods and path patterns that the server serves now. `{name}` matches one segment. */
  readonly routes: () => readonly { readonly method: string; readonly pattern: string }[];
  /** The reconcilers of the platform and of plugins. */
  readonly reconcilers: () => readonly Measured[];
  /** The migrations of plugins, and the checks of stored objects after upgrades. */
  readonly upgrades: Upgrades;
  /**
   * Reads TLS_CERT and TLS_KEY again. If the server issues its own certificate, renews it if it is due. Does nothing
   * without TLS.
   */
  readonly reloadCertificate: () => void;
  /**
   * Stops accepting requests, asks watchers to reconnect, completes requests in flight, and then closes the other parts
   * in the reverse order of their start.
   */
  close(): Promise<void>;
};

export type ServerOptions = {
  readonly log: Logger;
  readonly clock?: Clock;
  /** Called when the log, the read models or the audit indexes have failed. The process must then end. */
  readonly onFatal?: (error: Error) => void;
  /** Aborts a pending start. The start then closes everything that it has opened. */
  readonly signal?: AbortSignal;
  /**
   * Called when the server listens. From then on, the server responds to probes. It serves the platform once the read
   * models have caught up, and each plugin once the plugin has started.
   */
  readonly onListening?: (url: string) => void;
  readonly openLog?: OpenLog;
  readonly passwords?: Passwords;
  /** Folders of plugins that are loaded in place of the bundled plugins. */
  readonly bundledPlugins?: readonly string[];
  /** Records every plugin before its code runs, so that uncaught errors can be attributed to plugins. */
  readonly suspects?: CodeFolders;
  /** The event loop watch of the process, if any. */
  readonly eventLoop?: EventLoopSource;
  /** The limits of unread data of watches and streams. */
  readonly streamBounds?: OutboxBounds;
};

/**
 * Starts a server. This module is the only composition root. Resolves when the server is ready: the read models have
 * caught up, a super administrator exists, and the wait for the plugins has ended (`awaitPlugins`). Rejects with
 * `StartError` if only the operator can fix the problem.
 */
export async function startServer(config: Config, options: ServerOptions): Promise<RunningServer> {
  const startup = new Startup(options.clock ?? systemClock, loggerOf(options.log));
  try {
    return await start(config, options, startup);
  } catch (error) {
    await startup.undo();
    throw error;
  }
}

async function start(config: Config, options: ServerOptions, startup: Startup): Promise<RunningServer> {
  const { log, clock = systemClock, onFatal = endProcess(log), suspects = new CodeFolders() } = options;
  const stopping = serviceController();
  const stores = await openStores(config, { ...options, clock, onFatal }, startup);
  const core = composeCore(config, stores, { ...options, clock, suspects, signal: stopping.signal });
  const parts = await composeParts(core, { ...options, onFatal, suspects }, startup);
  const { http, url, certificates } = await openEdge(core, parts, { ...options, stopping }, startup);
  options.onListening?.(url);
  // Runs concurrently with the fold. Rows of types that are not loaded yet get their index entries when the indexes are
  // built.
  void parts.plugins.host.loadTypes();
  await openPlatform(core, parts, options, startup);
  await openPlugins(core, parts, options, startup);
  const types = core.registry.all().filter(({ serving }) => serving).length;
  return {
    url,
    ready: { log: core.logName, events: core.models.folded(), types },
    routes: () => http.routes(),
    reconcilers: () => core.bound.controllers(),
    upgrades: parts.plugins.upgrades,
    reloadCertificate: () => certificates?.reload(),
    close: async () => startup.undo(),
  };
}

type Listening = {
  readonly http: HttpServer;
  readonly url: string;
  readonly certificates: Certificates | undefined;
};

/** Starts listening. From then on, the server responds to probes. */
async function openEdge(
  core: Core,
  { access, plugins: { pluginRoutes, upgrades }, readiness, events, platformRoutes }: Parts,
  { eventLoop, stopping }: Pick<ServerOptions, 'eventLoop'> & { readonly stopping: AbortController },
  startup: Startup,
): Promise<Listening> {
  const { config, edge, models, hub } = core;
  const certificates = await startup.phase(
    'open certificates',
    async () => openCertificates(config, edge),
    async (opened) => opened?.stop(),
  );
  const http = createHttpServer({
    ...core,
    ...edge,
    allowedHosts: config.allowedHosts,
    certificate: certificates?.current,
    reader: models,
    feed: models,
    pluginRoutes,
    version: platformVersion,
    readiness: () => readiness.reasons(),
    metrics: composeMetrics(core, { ...access, readiness, eventLoop, pluginRoutes, upgrades, certificates }),
    senderOf: createSenderOf(config.trustedProxies),
    refusals: access.refusals,
    authenticate: (shown) => access.authenticator.authenticate(shown),
    authorize: access.authorize,
    platformRoutes,
    watch: createWatchEndpoints({ ...edge, hub }),
  });
  const url = await startup.phase(
    'listen',
    async () => listen(http.server, config, edge),
    async () => {
      stopping.abort();
      hub.closeAll();
      events.closeAll();
      pluginRoutes.closeStreams();
      await http.close(shutdownMs / 2);
    },
  );
  certificates?.follow((pair) => {
    http.useCertificate(pair);
  });
  return { http, url, certificates };
}

/** Folds the log, then serves the platform's own types. */
async function openPlatform(
  core: Core,
  { levels, declarer, access, readiness, follower, auditFollower, reconcilers, unique, plugins, tree }: Parts,
  { signal }: ServerOptions,
  startup: Startup,
): Promise<void> {
  const { registry, models, leadership } = core;
  await startup.phase('fold the log', async () => startUnless(signal, follower));
  auditFollower.start();
  const types = registry
    .all()
    .map(({ type }) => type)
    .filter(({ plugin }) => plugin === 'platform');
  await startup.phase('build indexes of the platform', async () => {
    for (const type of types) await models.buildIndexes(type);
  });
  await startup.phase('raise the level', async () => levels.open());
  await startup.phase('declare types of the platform', async () => declarer.declare(types));
  for (const { key } of types) registry.serve(key);
  // Until the permission tables are loaded, the server refuses requests with 503 instead of 403.
  await startup.phase('load permissions', async () => access.open());
  reconcilers.open();
  unique.open();
  plugins.upgrades.open();
  leadership.start();
  tree.open();
  readiness.done('read models');
  await startup.phase('apply roles', async () => applyRoles(core, declarer));
}

/** Starts the plugins. At the first start, creates the super administrator at the same time. */
async function openPlugins(
  { edge }: Core,
  { access, plugins: { host, installs }, readiness }: Parts,
  { log, signal }: ServerOptions,
  startup: Startup,
): Promise<void> {
  const { settled } = administer(access, log);
  await startup.phase('start plugins', async () => awaitPlugins({ ...edge, host, readiness, signal }));
  await startup.phase('open installs', async () => installs.open());
  await startup.phase('create the super administrator', async () => settled);
  readiness.done('plugins');
}

/**
 * Waits until the log is folded. An abort of `signal` interrupts this phase. No other phase may take an unlimited time:
 * the later phases are short, and the server completes them before it closes.
 */
async function startUnless(signal: AbortSignal | undefined, follower: LogFollower): Promise<void> {
  signal?.throwIfAborted();
  const giveUp = (): void => {
    void follower.stop(signal?.reason);
  };
  signal?.addEventListener('abort', giveUp);
  await follower.start();
  signal?.removeEventListener('abort', giveUp);
}

/**
 * If no super administrator exists, creates one; the server becomes ready only after this. Otherwise compares
 * ADMIN_PASSWORD with the stored hash, which uses another core for a tenth of a second and does not delay the start.
 */
function administer(access: Access, log: Logger): { readonly settled: Promise<void> } {
  const isFirstStart = !access.isAdministered();
  const administered = access.administer().then(({ notices }) => {
    for (const notice of notices) log.warn(notice);
  });
  if (isFirstStart) {
    // The result is awaited after the plugins have started. Until then, a failure must not be an unhandled rejection.
    administered.catch(() => undefined);
    return { settled: administered };
  }
  administered.catch((error: unknown) => {
    log.error({ err: error }, 'could not compare ADMIN_PASSWORD with the stored password hash');
  });
  return { settled: Promise.resolve() };
}

function endProcess(log: Logger): (error: Error) => void {
  return (error) => {
    log.fatal({ err: error }, 'the event log or the read models failed');
    process.exit(1);
  };
}
