import { ServerResponse, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * A response on the connection of a request that asked to leave HTTP: its end is the connection's end, unless the socket is
 * released first. Undefined for a connection that is no socket, which is then gone.
 */
export function responseOn(socket: Duplex, req: IncomingMessage): { readonly res: ServerResponse; readonly release: () => void } | undefined {
  if (!(socket instanceof Socket)) {
    socket.destroy();
    return undefined;
  }
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.once('finish', () => { socket.end(); });
  return { res, release: () => { res.detachSocket(socket); } };
}
