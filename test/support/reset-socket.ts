import type { Socket } from 'node:net';

/**
 * Closes a connection with a TCP reset. A socket that has begun to shut down is destroyed instead: libuv refuses to
 * reset it (`uv_tcp_close_reset`, EINVAL), and Node then never closes the handle, so that the process cannot exit.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
