import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Authorize } from '../auth/authorization/authorize.ts';
import type { Execute } from '../write/execute.ts';
import {
  connectionsCheckMs,
  headersTimeoutMs,
  keepAliveTimeoutMs,
  requestHeadersBytesMax,
  requestTimeoutMs,
} from '../limits/requests.ts';
import type { TypeRegistry } from '../plugin/registry/type-registry.ts';
import type { ChangeFeed, ObjectReader } from '../read/objects.ts';
import { AllowedHosts } from './client/allowed-hosts.ts';
import { App, type Authenticate } from './app.ts';
import { Connections } from './connection/connections.ts';
import { Discovery } from './discovery/discovery.ts';
import { fixedRoutes, watchedRoutes, type FixedRoute, type PlatformRoute } from './fixed-routes.ts';
import type { LogIdentity } from '../log/log.ts';
import type { PastPorts } from './resources/past/past.ts';
import { GeneratedApi, type GeneratedPorts } from './resources/generated.ts';
import type { ConsolePages } from './console/console-pages.ts';
import { docsRoutes } from './openapi/docs-routes.ts';
import { openApiRoutes } from './openapi/openapi-routes.ts';
import { resumeBehind } from './connection/parser-handover.ts';
import { MalformedRequests } from './connection/malformed-requests.ts';
import { TlsFront, type ServerCertificate } from './connection/tls-front.ts';
import type { Metrics } from './metrics.ts';
import type { PluginRoutes } from './plugin-routes/plugin-routes.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { RequestMemory } from './body/request-memory.ts';
import type { Route, RouteTable } from './route-table.ts';
import type { Edge } from './send.ts';
import type { SenderOf } from './client/client-address.ts';
import type { UpgradeWaits } from '../write/admission/upgrade-waits.ts';
import { RequestTurns } from './connection/request-turns.ts';
import { responseOn } from './connection/socket-response.ts';
import { leavesHttp, offersWebSocket, requestClass } from './connection/upgrade-requests.ts';
import type { WatchEndpoints } from './watch/watching.ts';

export type HttpDependencies = Edge & {
  readonly registry: TypeRegistry;
  readonly reader: ObjectReader;
  readonly feed: ChangeFeed;
  readonly execute: Execute;
  /** The log, for histories and past states of objects. */
  readonly eventLog: PastPorts['log'] & { identity(): LogIdentity };
  readonly audit: PastPorts['audit'] & GeneratedPorts['past'];
  readonly memory: RequestMemory;
  readonly upgradeWaits?: UpgradeWaits | undefined;
  readonly senderOf: SenderOf;
  readonly refusals: RefusalLog;
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly pluginRoutes: PluginRoutes;
  readonly watch: WatchEndpoints;
  /** The reasons why this node is not ready, one line each; empty if the node is ready. */
  readonly readiness: () => readonly string[];
  /** The platform's version, a semantic version. */
  readonly version: string;
  readonly metrics: Metrics;
  /** The allowed host names, with or without a port. If empty or undefined, all are allowed. */
  readonly allowedHosts?: readonly string[];
  /** With a certificate, the server accepts TLS only. */
  readonly certificate?: ServerCertificate | undefined;
  /** The platform's routes outside of the generated APIs, for example for accounts, reviews and log-ins. */
  readonly platformRoutes: readonly PlatformRoute[];
  readonly consolePages?: ConsolePages | undefined;
};

/** The interval, in milliseconds, at which a closing server checks for idle connections. */
const drainPollMs = 20;

export type HttpServer = {
  readonly server: Server;
  readonly callback: (req: IncomingMessage, res: ServerResponse) => void;
  /** Returns all current routes of generated APIs, the platform and plugins, including announced routes. */
  routes(): readonly Route[];
  /** Sets the certificate for new connections. Has no effect for a server that was created without a certificate. */
  useCertificate(certificate: ServerCertificate): void;
  /**
   * Stops accepting connections and waits for requests in flight. After `graceMs`, closes the remaining connections.
   */
  close(graceMs: number): Promise<void>;
};

export function createHttpServer(dependencies: HttpDependencies): HttpServer {
  const { domain, clock, log, pluginRoutes } = dependencies;
  const drawRequestId = requestIds();
  const { app, generated, fixed } = createApp(dependencies, drawRequestId);
  const connections = new Connections();
  const turns = new RequestTurns(clock);
  const callback = (req: IncomingMessage, res: ServerResponse): void => {
    connections.begin(req, res);
    turns.begin(req, res, () => {
      app.serve(req, res).catch((error: unknown) => {
        log.error('could not answer a request, so the connection is closed', { error: String(error) });
        req.socket.destroy();
      });
    });
  };
  const guard = guardWith(dependencies);
  const server = createNodeServer(callback, requestsOf({ app, connections, guard }));
  const malformed = new MalformedRequests({ domain, clock, connections, drawRequestId });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    guard(socket, () => {
      malformed.answer(error, socket);
    });
  });
  const leave = (req: IncomingMessage, _stream: Duplex, head: Buffer): void => {
    const { socket } = req;
    guard(socket, () => {
      if (leavesHttp(req)) serveUpgrade(app, dependencies, { req, socket, head });
      else resumeBehind({ server, connections, socket, head, guard });
    });
  };
  // After `upgrade` or `connect`, only this listener reads the connection.
  server.on('upgrade', leave).on('connect', leave);
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
  });
  const front = frontOf(dependencies, { server, malformed });
  const routes = (): readonly Route[] =>
    [...generated.all(), ...fixed.all(), ...pluginRoutes.all()].map(({ method, pattern }) => ({ method, pattern }));
  return {
    server,
    callback,
    routes,
    useCertificate: (certificate) => front?.use(certificate),
    close: (graceMs) => closed({ server, connections, front }, dependencies, graceMs),
  };
}

type Parsing = { readonly server: Server; readonly malformed: MalformedRequests };

/**
 * Terminates TLS in front of the server if there is a certificate. Must run after all listeners of `connection` are
 * added, because the front replaces these listeners.
 */
function frontOf({ certificate, clock, log }: HttpDependencies, { server, malformed }: Parsing): TlsFront | undefined {
  if (certificate === undefined) return undefined;
  return new TlsFront(certificate, {
    server,
    clock,
    log,
    refusePlain: (socket) => {
      malformed.refusePlain(socket);
    },
  });
}

type Application = { readonly app: App; readonly generated: GeneratedApi; readonly fixed: RouteTable<FixedRoute> };

function createApp(dependencies: HttpDependencies, drawRequestId: () => string): Application {
  const { domain, clock, log, registry, reader, feed, execute, eventLog, memory, senderOf, authorize } = dependencies;
  const { pluginRoutes, refusals, watch, readiness, version, metrics, platformRoutes, audit } = dependencies;
  const history = { reader, log: eventLog, identity: () => eventLog.identity(), audit };
  const writes = { execute, memory, upgradeWaits: dependencies.upgradeWaits };
  const generated = new GeneratedApi(registry, { reader, ...writes, history, authorize, past: audit }, feed);
  const resources = platformRoutes.map(({ resource }) => resource).filter((resource) => resource !== undefined);
  const discovery = new Discovery(registry, resources);
  const openApi = [...openApiRoutes(dependencies, () => fixed.all()), ...docsRoutes()];
  const fixed = fixedRoutes({ discovery, readiness, version, domain, metrics, more: [...platformRoutes, ...openApi] });
  const app = new App({
    domain,
    clock,
    log,
    memory,
    upgradeWaits: writes.upgradeWaits,
    senderOf,
    refusals,
    authenticate: dependencies.authenticate,
    authorize,
    pluginRoutes,
    watch,
    watched: watchedRoutes(platformRoutes),
    metrics,
    drawRequestId,
    generated,
    discovery,
    fixed,
    hosts: new AllowedHosts(dependencies.allowedHosts ?? []),
    console: dependencies.consolePages,
  });
  return { app, generated, fixed };
}

function createNodeServer(callback: HttpServer['callback'], requests: typeof IncomingMessage): Server {
  const server = createServer(
    {
      maxHeaderSize: requestHeadersBytesMax,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: connectionsCheckMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      // Node's own response to a missing Host header would have no body, so this server checks the header.
      requireHostHeader: false,
      IncomingMessage: requests,
    },
    callback,
  );
  // Above a limit for the number of headers, Node would silently drop headers, possibly If-Match. Instead, the size of
  // the headers is limited.
  server.maxHeadersCount = 0;
  server.on('checkExpectation', callback);
  return server;
}

/** Draws request ids at low cost. A random prefix makes the ids unique across restarts. */
function requestIds(): () => string {
  const prefix = randomBytes(6).toString('hex');
  let drawn = 0;
  return () => {
    drawn += 1;
    return `${prefix}-${drawn.toString(36)}`;
  };
}

type Guard = (socket: Socket, task: () => void) => void;

/** Returns a function that runs a task for one connection. An exception ends the connection, not the process. */
function guardWith({ log }: Edge): Guard {
  return (socket, task) => {
    try {
      task();
    } catch (error) {
      cutOff(socket, error, log);
    }
  };
}

function cutOff(socket: Socket, error: unknown, log: Edge['log']): void {
  log.error('disconnected a client after an error on its connection', {
    error: error instanceof Error ? error.stack : String(error),
  });
  socket.destroy();
}

/** Returns the class of the server's requests, which decides during parsing whether a request upgrades. */
function requestsOf({ app, connections, guard }: Leaving): typeof IncomingMessage {
  return requestClass((req) => {
    let leaves = false;
    guard(req.socket, () => {
      leaves = offersWebSocket(req) && connections.unanswered(req.socket) === undefined && app.hasSocketAt(req);
    });
    return leaves;
  });
}

type Leaving = { readonly app: App; readonly connections: Connections; readonly guard: Guard };

/** Handles an upgrade request like any other request, with a response on its connection. */
function serveUpgrade(app: App, { log, clock }: Edge, { req, socket, head }: Upgraded): void {
  socket.on('error', (error) => {
    log.debug('a connection failed during its upgrade', { error: String(error) });
  });
  const response = responseOn(socket, req, clock);
  if (response === undefined) return;
  const { res, release } = response;
  app
    .serve(req, res, { socket, head, release })
    .then(() => {
      // A response after the release of the socket has no connection, so the client is disconnected.
      if (res.headersSent && res.socket === null) socket.destroy();
    })
    .catch((error: unknown) => {
      cutOff(socket, error, log);
    });
}

type Upgraded = { readonly req: IncomingMessage; readonly socket: Socket; readonly head: Buffer };

type Closing = { readonly server: Server; readonly connections: Connections; readonly front: TlsFront | undefined };

async function closed({ server, connections, front }: Closing, { clock, log }: Edge, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const deadline = clock.monotonic() + graceMs;
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    const sweep = (): void => {
      server.closeIdleConnections();
      connections.destroyIdle();
      front?.destroyOpening();
      if (clock.monotonic() < deadline) {
        clock.after(drainPollMs, sweep);
        return;
      }
      log.warn('shutdown: closed the connections of requests that did not end in time');
      connections.destroyAll();
    };
    sweep();
  });
}
