import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { WatchHub } from '../watch/hub.ts';
import type { WatchPlan } from '../watch/watch-plan.ts';
import { decodeWatchQuery } from './decode-watch-query.ts';
import { headerOf } from './exchange.ts';
import { problem, type Problem } from './problem.ts';
import { sendProblem, type Edge } from './send.ts';
import { responseOn } from './socket-response.ts';
import { refusalProblem } from './watch-ending.ts';
import { SocketUpgrades } from './watch-socket.ts';
import { jsonLines, serverSentEvents, StreamSink } from './watch-stream.ts';
import type { WatchEndpoints, WatchRequest } from './watching.ts';

export type WatchEndpointsDependencies = Edge & { readonly hub: WatchHub };

export function createWatchEndpoints(dependencies: WatchEndpointsDependencies): WatchEndpoints {
  const endpoints = new HubEndpoints(dependencies);
  return {
    open: (request, req, res) => { endpoints.open(request, req, res); },
    upgrade: (request, req, socket, head) => { endpoints.upgrade(request, req, { socket, head }); },
  };
}

type Admission = { readonly ok: true; readonly value: WatchPlan } | { readonly ok: false; readonly problem: Problem };

class HubEndpoints {
  readonly #dependencies: WatchEndpointsDependencies;
  readonly #upgrades = new SocketUpgrades();

  constructor(dependencies: WatchEndpointsDependencies) {
    this.#dependencies = dependencies;
  }

  open(request: WatchRequest, req: IncomingMessage, res: ServerResponse): void {
    const { requestId } = request;
    const encoding = acceptsEventStream(req) ? serverSentEvents : jsonLines;
    const admission = this.#admit(request, encoding === serverSentEvents ? headerOf(req, 'last-event-id') : undefined);
    if (!admission.ok) {
      sendProblem({ req, res, requestId }, admission.problem, this.#dependencies);
      return;
    }
    res.writeHead(200, ['Content-Type', encoding === serverSentEvents ? 'text/event-stream' : 'application/json', ...streamHeaders, requestId]);
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    res.flushHeaders();
    // A connection that is reset while it is written to: its `close` tells the hub.
    res.on('error', () => undefined);
    const { hub, clock } = this.#dependencies;
    const watcher = hub.open(admission.value, new StreamSink(res, encoding, clock));
    res.once('close', () => { watcher.gone(); });
  }

  upgrade(request: WatchRequest, req: IncomingMessage, { socket, head }: { readonly socket: Duplex; readonly head: Buffer }): void {
    const admission = this.#admit(request, undefined);
    if (!admission.ok) {
      this.#refuseUpgrade({ req, socket, requestId: request.requestId }, admission.problem);
      return;
    }
    const refused = this.#upgrades.accept(req, socket, head, (sink, webSocket) => {
      const watcher = this.#dependencies.hub.open(admission.value, sink);
      webSocket.once('close', () => { watcher.gone(); });
    });
    if (refused !== undefined) this.#refuseUpgrade({ req, socket, requestId: request.requestId }, problem('bad-request', refused, { headers: ['Sec-WebSocket-Version', '13'] }));
  }

  #admit(request: WatchRequest, resumed: string | undefined): Admission {
    const decoded = decodeWatchQuery(request, resumed);
    const refusal = this.#dependencies.hub.refusal();
    return decoded.ok && refusal !== undefined ? { ok: false, problem: refusalProblem(refusal) } : decoded;
  }

  /** An upgrade that fails is answered in plain HTTP, and the connection with it ends. */
  #refuseUpgrade({ req, socket, requestId }: { readonly req: IncomingMessage; readonly socket: Duplex; readonly requestId: string }, refusal: Problem): void {
    socket.on('error', () => undefined);
    const response = responseOn(socket, req);
    if (response !== undefined) sendProblem({ req, res: response.res, requestId }, refusal, this.#dependencies);
  }
}

/** A proxy that collects an answer before it passes it on would keep a watch from ever beginning. */
const streamHeaders = ['Cache-Control', 'no-store', 'X-Accel-Buffering', 'no', 'X-Content-Type-Options', 'nosniff', 'X-Request-Id'] as const;

function acceptsEventStream(req: IncomingMessage): boolean {
  return (req.headers.accept ?? '').split(',').some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream');
}
