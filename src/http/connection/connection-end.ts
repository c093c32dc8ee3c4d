import type { Duplex } from 'node:stream';

import type { Clock } from '../../base/clock.ts';
import { lingerMs } from '../../limits/requests.ts';

/**
 * Ends a connection after its last response. Drops further input for `lingerMs`, because the peer could lose the
 * response if the socket closed with unread data. Then disconnects the peer.
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
