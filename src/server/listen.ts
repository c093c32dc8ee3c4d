import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';

import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import { StartError } from '../base/start-error.ts';
import { acceptReportMs } from '../limits/disk.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';

/** Reports connections that could not be accepted. */
export type AcceptReports = {
  readonly clock: Clock;
  readonly log: Pick<PluginLogger, 'warn'>;
};

/** Starts listening and returns the URL of the server. */
export async function listen(server: Server, { host, port, tls }: Config, edge: AcceptReports): Promise<string> {
  await new Promise<void>((done, fail) => {
    const refuse = (cause: NodeJS.ErrnoException): void => {
      const why = cause.code === 'EADDRINUSE' ? 'the address is in use by another program' : cause.message;
      fail(new StartError(`cannot listen on ${host}:${String(port)}: ${why}`, { exitCode: 2, cause }));
    };
    server.once('error', refuse).listen(port, host, () => {
      // Both listeners change in the same turn, because an `error` event without a listener ends the process.
      server.off('error', refuse);
      surviveFailedAccepts(server, edge);
      done();
    });
  });
  const address = server.address();
  const bound = typeof address === 'object' ? (address?.port ?? port) : port;
  return `${tls.kind === 'off' ? 'http' : 'https'}://${isIPv6(host) ? `[${host}]` : host}:${String(bound)}`;
}

/** Keeps the server running when a connection cannot be accepted, for example because no file descriptor is free. */
function surviveFailedAccepts(server: Server, { clock, log }: AcceptReports): void {
  let reportedAt = -Infinity;
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (clock.monotonic() - reportedAt < acceptReportMs) return;
    reportedAt = clock.monotonic();
    log.warn('could not accept a connection; if the error is EMFILE, raise the limit of open files (ulimit -n)', {
      error: error.message,
    });
  });
}
