import type { Duplex } from 'node:stream';

import type { Clock } from '../../base/clock.ts';
import { lingerMs } from '../../limits/requests.ts';

/**
 * Ends a connection whose last answer is written. What still comes is read and dropped for a moment, as a socket that
 * is closed unread resets the connection, and the peer may then lose the answer. A peer that stays is cut off.
 */
export function endConnection(socket: Duplex, clock: Clock): void {
  if (socket.destroyed) return;
  const timer = clock.after(lingerMs, () => { socket.destroy(); });
  socket.once('close', () => { timer.cancel(); });
  socket.end();
  socket.resume();
}
