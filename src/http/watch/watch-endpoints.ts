import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { watchClientChunksMax, watchClientFragmentsMax, watchClientFrameBytesMax } from '../../limits/watches.ts';
import type { WatchHub } from '../../watch/hub.ts';
import type { FrameEncoding } from '../../watch/frame.ts';
import type { WatchPlan } from '../../watch/watch-plan.ts';
import { negotiate } from '../representation/negotiate.ts';
import { representationOf } from '../representation/representation-of.ts';
import { formInVersion } from '../representation/versioned-form.ts';
import { framesInForm } from './formed-frames.ts';
import { decodeWatchQuery } from './decode-watch-query.ts';
import type { Decoded } from '../resources/decode-list-query.ts';
import { headerOf } from '../exchange.ts';
import { jsonType } from '../body/media-types.ts';
import { warningHeaders, type ProblemResult } from '../problem.ts';
import { sendProblem, type Edge } from '../send.ts';
import { refuseUpgrade, SocketUpgrades } from '../connection/socket-upgrades.ts';
import { ShownObjects } from './shown-objects.ts';
import { refusalProblem } from './watch-ending.ts';
import { SocketSink, webSocketFrames } from './watch-socket.ts';
import { jsonLines, serverSentEvents, StreamSink } from './watch-stream.ts';
import type { WatchEndpoints, WatchRequest } from './watching.ts';

export type WatchEndpointsDependencies = Edge & {
  readonly hub: WatchHub;
  /** Decodes the parameters of a watch. The default is the decoder for watches of objects. */
  readonly decode?: (request: WatchRequest, resumed: string | undefined) => Decoded<WatchPlan>;
};

export function createWatchEndpoints(dependencies: WatchEndpointsDependencies): WatchEndpoints {
  const endpoints = new HubEndpoints(dependencies);
  return {
    open: (request, req, res) => {
      endpoints.open(request, req, res);
    },
    upgrade: (request, req, socket, head) => {
      endpoints.upgrade(request, req, { socket, head });
    },
  };
}

/** The result of the checks of a watch request. `encoding` encodes objects in the requested form. */
type Admission = { readonly ok: true; readonly plan: WatchPlan; readonly encoding: FrameEncoding } | ProblemResult;

type UpgradedSocket = {
  readonly socket: Duplex;
  readonly head: Buffer;
};

class HubEndpoints {
  readonly #dependencies: WatchEndpointsDependencies;
  readonly #shown = new ShownObjects();
  readonly #upgrades = new SocketUpgrades({
    messageBytesMax: watchClientFrameBytesMax,
    fragmentsMax: watchClientFragmentsMax,
    chunksMax: watchClientChunksMax,
  });

  constructor(dependencies: WatchEndpointsDependencies) {
    this.#dependencies = dependencies;
  }

  open(request: WatchRequest, req: IncomingMessage, res: ServerResponse): void {
    const {
      requestId,
      type: { deprecation },
    } = request;
    const transport = acceptsEventStream(req) ? serverSentEvents : jsonLines;
    const admission = this.#admit(request, req, transport);
    if (!admission.ok) {
      sendProblem({ req, res, requestId }, admission.problem, this.#dependencies);
      return;
    }
    res.writeHead(200, [
      'Content-Type',
      transport === serverSentEvents ? 'text/event-stream' : jsonType,
      ...(deprecation === undefined ? [] : warningHeaders([deprecation])),
      ...streamHeaders,
      requestId,
    ]);
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    res.flushHeaders();
    // After an `error`, `close` follows and ends the watch.
    res.on('error', () => undefined);
    const watcher = this.#dependencies.hub.open(admission.plan, new StreamSink(res, admission.encoding));
    res.once('close', () => {
      watcher.closed();
    });
  }

  upgrade(request: WatchRequest, req: IncomingMessage, { socket, head }: UpgradedSocket): void {
    const admission = this.#admit(request, req, webSocketFrames);
    if (!admission.ok) {
      refuseUpgrade({ req, socket, requestId: request.requestId }, admission.problem, this.#dependencies);
      return;
    }
    const refused = this.#upgrades.accept(req, socket, head, (webSocket) => {
      const watcher = this.#dependencies.hub.open(
        admission.plan,
        new SocketSink(webSocket, socket, admission.encoding),
      );
      webSocket.once('close', () => {
        watcher.closed();
      });
    });
    if (refused !== undefined)
      refuseUpgrade({ req, socket, requestId: request.requestId }, refused, this.#dependencies);
  }

  #admit(request: WatchRequest, req: IncomingMessage, transport: FrameEncoding): Admission {
    const isEvents = transport === serverSentEvents;
    const { decode = decodeWatchQuery } = this.#dependencies;
    const decoded = decode(request, isEvents ? headerOf(req, 'last-event-id') : undefined);
    if (!decoded.ok) return decoded;
    // Objects in server-sent events are plain, because this media type has no parameters for other forms.
    const negotiated = negotiate(isEvents ? undefined : headerOf(req, 'accept'), request.query);
    if (!negotiated.ok) return negotiated;
    const { hub, clock } = this.#dependencies;
    const refusal = hub.refusal();
    if (refusal !== undefined) return { ok: false, problem: refusalProblem(refusal) };
    const form = formInVersion(request.type, representationOf(request.type, negotiated.value));
    return {
      ok: true,
      plan: decoded.value,
      encoding: form === undefined ? transport : framesInForm(form, transport, clock, this.#shown),
    };
  }
}

/**
 * The headers of a watch; the value of the last header follows. X-Accel-Buffering disables the buffers of proxies,
 * which would delay events.
 */
const streamHeaders = [
  'Cache-Control',
  'no-store',
  'Vary',
  'Accept',
  'X-Accel-Buffering',
  'no',
  'X-Content-Type-Options',
  'nosniff',
  'X-Request-Id',
] as const;

function acceptsEventStream(req: IncomingMessage): boolean {
  return (req.headers.accept ?? '')
    .split(',')
    .some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream');
}
