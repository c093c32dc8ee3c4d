import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';

import { StartError, type Config } from './config.ts';

/** Answers where. */
export async function listen(server: Server, { host, port }: Config): Promise<string> {
  await new Promise<void>((done, fail) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'another program listens there' : cause.message;
      fail(new StartError(`cannot listen on ${host}:${String(port)}: ${why}`, { exitCode: 2, cause }));
    });
    server.listen(port, host, done);
  });
  const address = server.address();
  const bound = typeof address === 'object' ? address?.port ?? port : port;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${String(bound)}`;
}
