import { join } from 'node:path';

import { decodeConfig } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { readEnvironment, type Environment } from '../config/environment.ts';
import { usageError } from './failure.ts';
import { identityOf } from './identity.ts';
import type { Identity } from './identity.ts';
import { ServerClient } from './server-client.ts';
import type { CommandEnvironment } from './command-environment.ts';

/** The options of every command that sends requests to the server. */
export type ConnectionOptions = {
  readonly server?: string | undefined;
  readonly domain?: string | undefined;
  readonly user?: string | undefined;
};

export type Connection = {
  readonly client: ServerClient;
  readonly identity: Identity;
  /** The platform's domain, which the names of its API groups and reserved keys contain. */
  readonly domain: string;
};

/** The settings that locate the server; a command does not validate the others. */
const settingsRead = ['HOST', 'PORT', 'DATA_DIR', 'PLATFORM_DOMAIN'];

/** Sends nothing yet; prompts for a password where one is needed. */
export async function connect(options: ConnectionOptions, surroundings: CommandEnvironment): Promise<Connection> {
  const environment = readEnvironment(surroundings.folder, surroundings.variables);
  const config = settingsOf(options, environment, surroundings.folder);
  const url = serverUrl(options.server ?? environment['LEDGERPLANE_SERVER'], config);
  const identity = await identityOf(options.user, {
    environment,
    passwordFile: join(config.dataDir, 'admin-password'),
    url,
    surroundings,
  });
  return {
    client: new ServerClient({ url, identity, clock: surroundings.clock }),
    identity,
    domain: config.platformDomain,
  };
}

function settingsOf({ domain }: ConnectionOptions, environment: Environment, folder: string): Config {
  const settings: Record<string, string | undefined> = Object.fromEntries(
    settingsRead.map((name) => [name, environment[name]]),
  );
  if (domain !== undefined) settings['PLATFORM_DOMAIN'] = domain;
  const decoded = decodeConfig(settings, folder);
  if (!decoded.ok) throw usageError(decoded.mistakes.join('; '));
  return decoded.config;
}

/** The message never repeats the input: the address may contain a password. */
function serverUrl(given: string | undefined, { host, port }: Config): URL {
  if (given === undefined) {
    if (port === 0)
      throw usageError('PORT is 0, so the settings do not say where the server is: use --server or LEDGERPLANE_SERVER');
    return new URL(`http://${reachable(host)}:${String(port)}/`);
  }
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/u.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw usageError('--server and LEDGERPLANE_SERVER are addresses like http://127.0.0.1:8090');
  }
  if (url.username !== '' || url.password !== '')
    throw usageError(
      'the address of the server must hold no credentials: use LEDGERPLANE_TOKEN, or --user and LEDGERPLANE_PASSWORD',
    );
  return url;
}

/** A server that listens on all interfaces is reached over the loopback one. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
