import { fileURLToPath } from 'node:url';

import type { Logger } from 'pino';

import type { Measured } from '../../reconcilers/reconcile-slots.ts';
import type { Passwords } from '../auth/passwords/password.ts';
import { awaitPlugins } from './await-plugins.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { serviceController } from '../base/service-controller.ts';
import type { Config } from '../config/config.ts';
import type { LogFollower } from './follow-log.ts';
import { createConsolePages } from '../http/console/console-pages.ts';
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

/** The output of the console's build, beside the compiled sources. */
const consoleFolder = fileURLToPath(new URL('../../console', import.meta.url));

export type RunningServer = {
  readonly url: string;
  /** The kind of the log, and the numbers of folded events and served types when the server became ready. */
  readonly ready: {
    readonly log: OpenedLog['name'];
    readonly events: number;
    readonly types: number;
  };
  /** Returns all methods and path patterns that the server serves now. `{name}` matches one segment. */
  readonly routes: () => readonly { readonly method: string; readonly pattern: string }[];
  /** The reconcilers of the platform and of plugins. */
  readonly reconcilers: () => readonly Measured[];
  /** The migrations of plugins, and the checks of stored objects after upgrades. */
  readonly upgrades: Upgrades;
  /** Reads TLS_CERT and TLS_KEY again, or renews the server's own certificate if due. */
  readonly reloadCertificate: () => void;
  /**
   * Stops accepting requests, asks watchers to reconnect, completes requests in flight, and closes the other parts in
   * the reverse order of their start.
   */
  close(): Promise<void>;
};

export type ServerOptions = {
  readonly log: Logger;
  readonly clock?: Clock;
  /** Called after a failure of the log, the read models or the audit indexes. The process must then end. */
  readonly onFatal?: (error: Error) => void;
  /** Aborts a pending start. The start then closes everything that was opened. */
  readonly signal?: AbortSignal;
  /** Called when the server listens and responds to probes. The platform and the plugins are served later. */
  readonly onListening?: (url: string) => void;
  readonly openLog?: OpenLog;
  readonly passwords?: Passwords;
  /** Folders of plugins that are loaded in place of the bundled plugins. */
  readonly bundledPlugins?: readonly string[];
  /** Records each plugin before its code runs, so that uncaught errors can be attributed to plugins. */
  readonly suspects?: CodeFolders;
  /** The event loop watch of the process. */
  readonly eventLoop?: EventLoopSource;
  /** The limits of unread data of watches and streams. */
  readonly streamBounds?: OutboxBounds;
};

/**
 * Starts a server. This module is the only composition root. The server is ready when the read models have caught up, a
 * super administrator exists, and the wait for the plugins has ended.
 *
 * @throws StartError if only the operator can fix the problem.
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
  // Runs concurrently with the fold. Rows of types that are loaded later get their index entries when the indexes are
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

/** Starts listening. The server then responds to probes. */
async function openEdge(
  core: Core,
  { access, plugins: { pluginRoutes, upgrades }, readiness, events, operation, platformRoutes }: Parts,
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
    metrics: composeMetrics(core, {
      ...access,
      ...operation,
      readiness,
      eventLoop,
      pluginRoutes,
      upgrades,
      certificates,
    }),
    senderOf: createSenderOf(config.trustedProxies),
    refusals: access.refusals,
    authenticate: (shown) => access.authenticator.authenticate(shown),
    authorize: access.authorize,
    platformRoutes,
    consolePages: config.console === 'on' ? createConsolePages(consoleFolder, core.frontEnds) : undefined,
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
  {
    levels,
    declarer,
    access,
    readiness,
    follower,
    auditFollower,
    reconcilers,
    unique,
    plugins,
    tree,
    operation,
  }: Parts,
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
  // Before the permission tables are loaded, requests are refused with 503 instead of 403.
  await startup.phase('load permissions', async () => access.open());
  reconcilers.open();
  unique.open();
  plugins.upgrades.open();
  leadership.start();
  tree.open();
  operation.open();
  readiness.done('read models');
  await startup.phase('apply roles', async () => applyRoles(core, declarer));
}

/** Starts the plugins, and creates the super administrator at the first start. */
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
 * Waits until the log is folded. An abort of `signal` interrupts only this phase, because all later phases are short.
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
 * Creates a super administrator if none exists, and lets the start wait for it. Otherwise compares ADMIN_PASSWORD with
 * the stored hash, without delaying the start.
 */
function administer(access: Access, log: Logger): { readonly settled: Promise<void> } {
  const isFirstStart = !access.isAdministered();
  const administered = access.administer().then(({ notices }) => {
    for (const notice of notices) log.warn(notice);
  });
  if (isFirstStart) {
    // The result is awaited only after the plugins have started, so a failure needs a handler now.
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
