import type { Duplex } from 'node:stream';

import type { Clock } from '../../base/clock.ts';
import { lingerMs } from '../../limits/requests.ts';

/**
 * Ends a connection after its last response. Reads and drops further input for a short time, because closing a socket
 * with unread data would reset the connection, and the peer could lose the response. A peer that is still connected
 * after this time is disconnected.
 */
export function endConnection(socket: Duplex, clock: Clock): void {
  if (socket.destroyed) return;
  const timer = clock.after(lingerMs, () => {
    socket.destroy();
  });
  socket.once('close', () => {
    timer.cancel();
  });
  socket.end();
  socket.resume();
}
