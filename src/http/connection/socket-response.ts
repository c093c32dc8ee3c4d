import { ServerResponse, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Clock } from '../../base/clock.ts';
import { endConnection } from './connection-end.ts';

export type SocketResponse = {
  readonly res: ServerResponse;
  readonly release: () => void;
};

/**
 * Creates a response on the connection of an upgrade request. The end of the response closes the connection unless
 * `release` was called. If the connection is not a socket, destroys the connection and returns undefined.
 */
export function responseOn(socket: Duplex, req: IncomingMessage, clock: Clock): SocketResponse | undefined {
  if (!(socket instanceof Socket)) {
    socket.destroy();
    return undefined;
  }
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.once('finish', () => {
    endConnection(socket, clock);
  });
  return {
    res,
    release: () => {
      res.detachSocket(socket);
    },
  };
}
