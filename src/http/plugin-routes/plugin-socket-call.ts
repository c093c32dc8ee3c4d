import type { Duplex } from 'node:stream';

import type { SocketEndpoint } from '../../plugin/api/endpoints.ts';
import { accountOf, clientOf } from '../../read/client.ts';
import { takenOver, type Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import { routeRequest, type CallPorts } from './plugin-request.ts';
import { decodeRefusal } from './plugin-response.ts';
import { SocketConnection } from './plugin-socket.ts';
import type { Mount, OpenStreams } from './plugin-streams.ts';
import type { Edge } from '../send.ts';
import { refuseUpgrade, type SocketUpgrades } from '../connection/socket-upgrades.ts';
import { thrownText } from '../thrown-text.ts';

/** The connection of an upgrade request. */
export type Upgraded = {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly release: () => void;
  readonly edge: Edge;
};

type SocketCall = {
  readonly exchange: Exchange;
  readonly mount: Mount;
  readonly endpoint: SocketEndpoint;
  readonly params: Readonly<Record<string, string>>;
  readonly upgraded: Upgraded;
};

type SocketCallDependencies = CallPorts & {
  readonly streams: OpenStreams;
  readonly upgrades: SocketUpgrades;
};

/**
 * Takes over the connection and runs the plugin's handler. Must be called in a turn in which `OpenStreams.refusal` has
 * returned undefined.
 */
export function serveSocket(call: SocketCall, dependencies: SocketCallDependencies): Answer {
  const {
    exchange: { req, requestId, subject, sender, info: request },
    mount,
    upgraded: { socket, head, release, edge },
  } = call;
  const { upgrades, streams, clock } = dependencies;
  release();
  const refused = upgrades.accept(req, socket, head, (webSocket) => {
    const calling = new AbortController();
    const account = accountOf(clientOf(subject, sender.address));
    const connection = new SocketConnection({
      mount,
      subject,
      request,
      account,
      webSocket,
      socket,
      now: clock.monotonic(),
      streams,
      onOver: () => {
        calling.abort();
      },
    });
    void run(call, connection, { ...dependencies, signal: calling.signal });
  });
  if (refused !== undefined) refuseUpgrade({ req, socket, requestId }, refused, edge);
  return takenOver;
}

/** Runs the handler, which is the plugin's code: it may throw at any time, and may never end. */
async function run(
  { exchange, mount: { plugin }, endpoint, params }: SocketCall,
  connection: SocketConnection,
  { signal, ...ports }: CallPorts & { readonly signal: AbortSignal },
): Promise<void> {
  try {
    await endpoint.handler(
      connection.pluginSocket,
      routeRequest(exchange, { plugin, params, body: undefined, signal }, ports),
    );
    connection.end({ reason: 'done', detail: '' });
  } catch (error) {
    const refused = decodeRefusal(error);
    // Logs an error only at level debug if the socket was closed before, or if the error is a refusal.
    const isLogged = !connection.isOver && refused === undefined;
    const fields = {
      plugin,
      requestId: exchange.requestId,
      path: exchange.info.path,
      route: `the socket ${endpoint.path}`,
      error: thrownText(error),
    };
    if (isLogged) ports.log.error('the handler of a plugin socket failed, so the socket is closed', fields);
    else ports.log.debug('the handler of a plugin socket ended with an error', fields);
    connection.end({ reason: 'failed', detail: refused?.detail ?? `the plugin ${plugin} failed` });
  }
}
