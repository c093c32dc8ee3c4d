import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Clock } from '../base/clock.ts';
import type { WatchHub } from '../watch/hub.ts';
import type { WatchPlan } from '../watch/watch-plan.ts';
import { decodeWatchQuery } from './decode-watch-query.ts';
import { headerOf } from './exchange.ts';
import type { Problem } from './problem.ts';
import { problemAnswer, type ProblemAnswer } from './problem-body.ts';
import { refusalProblem } from './watch-ending.ts';
import { SocketUpgrades } from './watch-socket.ts';
import { jsonLines, serverSentEvents, StreamSink } from './watch-stream.ts';
import type { WatchEndpoints, WatchRequest } from './watching.ts';

export type WatchEndpointsDependencies = { readonly hub: WatchHub; readonly clock: Clock; readonly domain: string };

export function createWatchEndpoints(dependencies: WatchEndpointsDependencies): WatchEndpoints {
  const endpoints = new HubEndpoints(dependencies);
  return {
    open: (request, req, res) => { endpoints.open(request, req, res); },
    upgrade: (request, req, socket, head) => { endpoints.upgrade(request, req, { socket, head }); },
  };
}

type Admission = { readonly ok: true; readonly value: WatchPlan } | { readonly ok: false; readonly problem: Problem };

class HubEndpoints {
  readonly #hub: WatchHub;
  readonly #clock: Clock;
  readonly #domain: string;
  readonly #upgrades = new SocketUpgrades();

  constructor({ hub, clock, domain }: WatchEndpointsDependencies) {
    this.#hub = hub;
    this.#clock = clock;
    this.#domain = domain;
  }

  open(request: WatchRequest, req: IncomingMessage, res: ServerResponse): void {
    const isEventSource = acceptsEventStream(req);
    const admission = this.#admit(request, isEventSource ? headerOf(req, 'last-event-id') : undefined);
    if (!admission.ok) {
      const { status, headers, bytes } = this.#answer(admission.problem, request, req);
      res.writeHead(status, [...headers, 'Content-Length', String(bytes.length), 'X-Request-Id', request.requestId]);
      res.end(bytes);
      return;
    }
    // A proxy that collects an answer before passing it on would keep a watch from ever beginning.
    res.writeHead(200, ['Content-Type', isEventSource ? 'text/event-stream' : 'application/json', 'Cache-Control', 'no-store', 'X-Accel-Buffering', 'no', 'X-Request-Id', request.requestId]);
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    res.flushHeaders();
    const watcher = this.#hub.open(admission.value, new StreamSink(res, isEventSource ? serverSentEvents : jsonLines, this.#clock));
    // A connection that was reset while it was written to: its `close` tells the hub.
    res.on('error', () => undefined);
    res.once('close', () => { watcher.gone(); });
  }

  upgrade(request: WatchRequest, req: IncomingMessage, { socket, head }: { readonly socket: Duplex; readonly head: Buffer }): void {
    const admission = this.#admit(request, undefined);
    if (!admission.ok) {
      refuseUpgrade(socket, this.#answer(admission.problem, request, req), request.requestId);
      return;
    }
    this.#upgrades.accept(req, socket, head, (sink, webSocket) => {
      const watcher = this.#hub.open(admission.value, sink);
      webSocket.once('close', () => { watcher.gone(); });
    });
  }

  #admit(request: WatchRequest, resumed: string | undefined): Admission {
    const decoded = decodeWatchQuery(request, resumed);
    const refusal = this.#hub.refusal();
    return decoded.ok && refusal !== undefined ? { ok: false, problem: refusalProblem(refusal) } : decoded;
  }

  #answer(problem: Problem, { type, name, requestId }: WatchRequest, req: IncomingMessage): ProblemAnswer {
    const resource = { group: type.group, resource: type.plural, ...(name === undefined ? {} : { name }) };
    const [path = '/'] = (req.url ?? '/').split('?', 1);
    return problemAnswer(problem, { domain: this.#domain, path, accept: req.headers.accept, requestId, time: new Date(this.#clock.now()).toISOString(), resource });
  }
}

function acceptsEventStream(req: IncomingMessage): boolean {
  return (req.headers.accept ?? '').split(',').some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream');
}

/** An upgrade that fails is answered in plain HTTP, and the connection with it ends. */
function refuseUpgrade(socket: Duplex, { status, headers, bytes }: ProblemAnswer, requestId: string): void {
  socket.on('error', () => undefined);
  const all = [...headers, 'Content-Length', String(bytes.length), 'X-Request-Id', requestId, 'Connection', 'close'];
  const lines = all.flatMap((name, place) => (place % 2 === 0 ? [`${name}: ${all[place + 1] ?? ''}`] : []));
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]));
}
