import type { IncomingMessage } from 'node:http';

/** The one place that says from which address a watch or a list was asked for; empty once the connection is gone. */
export function clientAddress({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}
