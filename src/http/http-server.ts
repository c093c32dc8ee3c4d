import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Authorize } from '../auth/authorize.ts';
import type { Execute } from '../execute.ts';
import { headersTimeoutMs, keepAliveTimeoutMs, requestHeadersBytesMax, requestTimeoutMs } from '../limits/requests.ts';
import type { TypeRegistry } from '../plugin/type-registry.ts';
import type { ChangeFeed, ObjectReader } from '../read/objects.ts';
import { App, type Authenticate } from './app.ts';
import { fixedRoutes, type PlatformRoute } from './fixed-routes.ts';
import { GeneratedApi } from './generated.ts';
import type { Metrics } from './metrics.ts';
import type { PluginRoutes } from './plugin-routes.ts';
import { problem, type Problem } from './problem.ts';
import { problemAnswer } from './problem-body.ts';
import type { Route } from './route-table.ts';
import { sendProblem, type Edge } from './send.ts';
import type { SenderOf } from './sender.ts';
import { responseOn } from './socket-response.ts';
import type { WatchEndpoints } from './watching.ts';

/** All that HTTP needs of the rest. */
export type HttpDependencies = Edge & {
  readonly registry: TypeRegistry;
  readonly reader: ObjectReader;
  readonly feed: ChangeFeed;
  readonly execute: Execute;
  readonly senderOf: SenderOf;
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly pluginRoutes: PluginRoutes;
  readonly watch: WatchEndpoints;
  /** Why this node is not ready, a line a reason; empty when it is. */
  readonly readiness: () => readonly string[];
  /** The platform's own, a semantic version. */
  readonly version: string;
  readonly metrics: Metrics;
  /** Accounts, permissions, reviews, log-in: served like any other path, authorized before. */
  readonly platformRoutes: readonly PlatformRoute[];
};

/** How often a closing server looks for connections that have become idle. */
const drainPollMs = 20;

export type HttpServer = {
  readonly server: Server;
  readonly callback: (req: IncomingMessage, res: ServerResponse) => void;
  /** Every route there is now: the generated, the platform's own and plugins', announced ones included. */
  routes(): readonly Route[];
  /** Stops accepting, lets what is in flight end, and cuts what has not ended after `graceMs`. */
  close(graceMs: number): Promise<void>;
};

export function createHttpServer(dependencies: HttpDependencies): HttpServer {
  const { domain, clock, log, registry, reader, feed, execute, senderOf, authenticate, authorize, pluginRoutes } = dependencies;
  const { watch, readiness, version, metrics, platformRoutes } = dependencies;
  const drawRequestId = requestIds();
  const generated = new GeneratedApi(registry, { reader, execute }, feed);
  const fixed = fixedRoutes({ registry, readiness, version, metrics, more: platformRoutes });
  const app = new App({
    domain, clock, log, senderOf, authenticate, authorize, pluginRoutes, watch, metrics, drawRequestId, generated, fixed,
  });
  const koa = app.koa().callback();
  const callback = (req: IncomingMessage, res: ServerResponse): void => { void koa(req, res); };
  const server = createServer({
    maxHeaderSize: requestHeadersBytesMax,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // What node answers by itself has no body; `App` says the same in a problem's words.
    requireHostHeader: false,
  }, callback);
  // Bounded in bytes. A bound in number drops the rest in silence, an If-Match among them.
  server.maxHeadersCount = 0;
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    sendProblem({ req, res, requestId: drawRequestId() }, problem('expectation-failed', 'the only expectation served is 100-continue'), dependencies);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => { answerMalformed(error, socket, { domain, clock, requestId: drawRequestId() }); });
  // Node forgets a connection that has left HTTP, and waits for it all the same when the server closes.
  const upgraded = new Set<Duplex>();
  const leave = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    upgraded.add(socket);
    socket.once('close', () => { upgraded.delete(socket); });
    serveUpgrade(app, dependencies, { req, socket, head });
  };
  // Unheard, a CONNECT would be cut off without an answer.
  server.on('upgrade', leave).on('connect', leave);
  // Node takes one that has said nothing yet, as browsers open them in advance, for one with a request.
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => { open.delete(socket); });
  });
  const routes = (): readonly Route[] => [...generated.all(), ...fixed.all(), ...pluginRoutes.all()].map(({ method, pattern }) => ({ method, pattern }));
  return { server, callback, routes, close: (graceMs) => closed({ server, upgraded, open }, dependencies, graceMs) };
}

/** Unique across restarts by a drawn prefix, and cheap: one a request. */
function requestIds(): () => string {
  const prefix = randomBytes(6).toString('hex');
  let drawn = 0;
  return () => {
    drawn += 1;
    return `${prefix}-${drawn.toString(36)}`;
  };
}

/**
 * A request that asks to leave HTTP goes through the same order as any other, on a response of its own; only a watch takes
 * its connection. An upgrade to anything but WebSocket and a tunnel are not ours to do, so the request is served as if it
 * had not asked: a CONNECT is a method that nothing serves.
 */
function serveUpgrade(app: App, { log }: Edge, { req, socket, head }: { readonly req: IncomingMessage; readonly socket: Duplex; readonly head: Buffer }): void {
  socket.on('error', (error) => { log.debug('an upgrading connection failed', { error: String(error) }); });
  const response = responseOn(socket, req);
  if (response === undefined) return;
  const { res, release } = response;
  const asksForWebSocket = req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket';
  void app.serve(req, res, asksForWebSocket ? { socket, head, release } : undefined);
}

/** What node could not read as HTTP is answered in the platform's words, and its connection closed. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex, { domain, clock, requestId }: Pick<Edge, 'domain' | 'clock'> & { readonly requestId: string }): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, bytes } = problemAnswer(malformedProblem(error.code), {
    domain, path: '', accept: undefined, requestId, time: new Date(clock.now()).toISOString(),
  });
  const fields = [...headers, 'Content-Length', String(bytes.length), 'Connection', 'close'];
  const lines = fields.flatMap((field, place) => place % 2 === 0 ? [`${field}: ${fields[place + 1] ?? ''}\r\n`] : []);
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${String(status)} \r\n${lines.join('')}\r\n`), bytes]));
}

function malformedProblem(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': return problem('headers-too-large', `path and headers together must be at most ${String(requestHeadersBytesMax)} bytes`);
    case 'ERR_HTTP_REQUEST_TIMEOUT': return problem('request-timeout', 'the request did not arrive in time');
    default: return problem('bad-request', 'this is not HTTP as this server reads it');
  }
}

type Connections = { readonly server: Server; readonly upgraded: ReadonlySet<Duplex>; readonly open: ReadonlySet<Socket> };

async function closed({ server, upgraded, open }: Connections, { clock, log }: Edge, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const deadline = clock.monotonic() + graceMs;
  await new Promise<void>((resolve) => {
    server.close(() => { resolve(); });
    const sweep = (): void => {
      server.closeIdleConnections();
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
      if (clock.monotonic() < deadline) {
        clock.after(drainPollMs, sweep);
        return;
      }
      log.warn('requests did not end in time and were cut off');
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
    };
    sweep();
  });
}
