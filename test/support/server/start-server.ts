import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';

import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { noHashCost, Passwords } from '../../../src/auth/passwords/password.ts';
import { decodeConfig, type Config } from '../../../src/config/config.ts';
import { startServer, type RunningServer, type ServerOptions } from '../../../src/server/server.ts';

export const testPassword = 'correct horse battery staple';
/** The HTTP header with the super administrator's credentials. */
export const adminAuthorization = `Basic ${Buffer.from(`admin:${testPassword}`).toString('base64')}`;

export type TestServer = RunningServer & {
  readonly dataDir: string;
  /**
   * Sends a request with `fetch` as the super administrator. Request and response are JSON unless `init` has another
   * type.
   */
  call(path: string, init?: CallInit): Promise<Response>;
  /** Stops the server and starts another one on the same data. */
  restart(): Promise<TestServer>;
  /** Stops the server and removes its data. */
  remove(): Promise<void>;
};

export type CallInit = {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type TestServerOptions = Pick<
  ServerOptions,
  'onListening' | 'onFatal' | 'openLog' | 'passwords' | 'signal' | 'streamBounds'
> & {
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  readonly clock?: Clock;
  /** Receives the log lines; by default, they are discarded. */
  readonly logLines?: { write(line: string): void };
};

/**
 * Starts a server as `npm start` does, on a free port and in a folder of its own. The server records no log-ins and
 * refusals unless a test enables that, since most tests count events.
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'ledgerplane-')));
  const config = configOf({
    PORT: '0',
    DATA_DIR: dataDir,
    ADMIN_PASSWORD: testPassword,
    ACCESS_EVENTS: 'off',
    ...options.environment,
  });
  const log = options.logLines === undefined ? pino({ level: 'silent' }) : pino({ level: 'debug' }, options.logLines);
  const server = await startServer(config, {
    passwords: new Passwords(noHashCost),
    ...options,
    log,
    clock: options.clock ?? systemClock,
  });
  return {
    ...server,
    dataDir,
    call: async (path, { method = 'GET', body, headers = {} } = {}) =>
      fetch(`${server.url}${path}`, {
        method,
        headers: {
          authorization: adminAuthorization,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : {
              body:
                typeof body === 'string' || body instanceof Uint8Array
                  ? (body as NonNullable<RequestInit['body']>)
                  : JSON.stringify(body),
            }),
      }),
    restart: async () => {
      await server.close();
      return startTestServer({ ...options, dataDir });
    },
    remove: async () => {
      await server.close();
      // A restarted server shares the folder, and may remove it at the same time.
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export function configOf(environment: Readonly<Record<string, string>>): Config {
  const decoded = decodeConfig(environment, process.cwd());
  if (!decoded.ok) throw new Error(decoded.mistakes.join('\n'));
  return decoded.config;
}
