import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';

import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { noHashCost, Passwords } from '../../../src/auth/passwords/password.ts';
import { decodeConfig, type Config } from '../../../src/config/config.ts';
import { startServer, type RunningServer, type ServerOptions } from '../../../src/server/server.ts';

export const testPassword = 'correct horse battery staple';
/** The super administrator's credentials, as a header. */
export const adminAuthorization = `Basic ${Buffer.from(`admin:${testPassword}`).toString('base64')}`;

export type TestServer = RunningServer & {
  readonly dataDir: string;
  /** `fetch` as the super administrator, JSON in and out unless `init` says otherwise. */
  call(path: string, init?: CallInit): Promise<Response>;
  /** Stops it and starts another on the same data. */
  restart(): Promise<TestServer>;
  /** Stops it and removes its data. */
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
  /** Where log lines go; nowhere by default. */
  readonly logLines?: { write(line: string): void };
};

/**
 * What `npm start` runs, on a free port and a directory of its own. It records no accesses unless a test asks for it:
 * most tests count events.
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
      // A server that has been started again has the same folder, and may be removing it, too.
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export function configOf(environment: Readonly<Record<string, string>>): Config {
  const decoded = decodeConfig(environment, process.cwd());
  if (!decoded.ok) throw new Error(decoded.mistakes.join('\n'));
  return decoded.config;
}
