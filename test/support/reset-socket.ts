import type { Socket } from 'node:net';

/**
 * Closes a connection with a TCP reset. If the socket has begun to shut down, it is destroyed instead: libuv refuses to
 * reset it (`uv_tcp_close_reset`, EINVAL), and Node then never closes the handle, so the process could not exit.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
