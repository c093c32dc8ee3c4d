import { join } from 'node:path';

import { decodeConfig } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { readEnvironment, type Environment } from '../config/environment.ts';
import { tlsKinds } from '../config/tls-setting.ts';
import { usageError } from './failure.ts';
import { identityOf } from './identity.ts';
import type { Identity } from './identity.ts';
import { ServerClient } from './server-client.ts';
import type { CommandContext } from './command-context.ts';
import { authorityFor, type Authority } from './trust.ts';

/** The options of every command that sends requests to the server. */
export type ConnectionOptions = {
  readonly server?: string | undefined;
  readonly domain?: string | undefined;
  readonly user?: string | undefined;
};

export type Connection = {
  readonly client: ServerClient;
  readonly identity: Identity;
  /** The platform's domain, which is a part of the platform's API groups and reserved keys. */
  readonly domain: string;
  readonly url: URL;
  /** The authority that must have issued the server's certificate; if undefined, any authority that Node trusts. */
  readonly authority: Authority | undefined;
  /** The absolute path of DATA_DIR. */
  readonly dataDir: string;
};

/**
 * The settings from which a command determines the server, its files and the platform's domain. Commands do not
 * validate the other settings of the server, except for TLS.
 */
const settingsRead = ['HOST', 'PORT', 'DATA_DIR', 'PLATFORM_DOMAIN'];

/** The server of a command, determined before any request or prompt. */
export type Target = Pick<Connection, 'domain' | 'url' | 'authority' | 'dataDir'> & {
  readonly environment: Environment;
};

export function targetOf(options: ConnectionOptions, { folder, variables }: CommandContext): Target {
  const environment = readEnvironment(folder, variables);
  const config = settingsOf(options, environment, folder);
  const kind = tlsKindOf(environment);
  const url = serverUrl(options.server ?? environment['LEDGERPLANE_SERVER'], config, kind === 'off' ? 'http' : 'https');
  const { dataDir, platformDomain: domain, host } = config;
  const file = environment['LEDGERPLANE_CA'];
  // If the operator provides certificate files, an authority in DATA_DIR is obsolete and is not used.
  const authority = authorityFor({ url, file, folder, host, dataDir: kind === 'files' ? undefined : dataDir });
  return { environment, url, authority, dataDir, domain };
}

/** Refuses a server without TLS, because kubectl sends no credentials over plain HTTP. */
export function requireTls({ url, environment }: Target): void {
  if (url.protocol === 'https:') return;
  const where =
    environment['LEDGERPLANE_SERVER'] === undefined
      ? 'or set the address of the server with --server'
      : 'and an address with https:// in LEDGERPLANE_SERVER';
  throw usageError(
    `${url.origin} is plain HTTP, over which kubectl sends no credentials: ` +
      `set TLS=auto (or TLS=files) for the server and for this command, ${where}`,
  );
}

/** Determines the server and the credentials. Prompts for a password if necessary. Sends no request. */
export async function connect(options: ConnectionOptions, context: CommandContext): Promise<Connection> {
  const { environment, ...target } = targetOf(options, context);
  const { url, authority, dataDir } = target;
  const identity = await identityOf(options.user, {
    environment,
    passwordFile: join(dataDir, 'admin-password'),
    url,
    context,
  });
  const client = new ServerClient({ url, identity, clock: context.clock, ca: authority?.text });
  return { ...target, client, identity };
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

/**
 * Returns the kind of TLS. Does not read TLS_CERT and TLS_KEY, which may be readable only for the user of the server.
 */
function tlsKindOf({ TLS = 'off' }: Environment): (typeof tlsKinds)[number] {
  const kind = tlsKinds.find((known) => known === TLS);
  if (kind === undefined) throw usageError(`TLS must be one of ${tlsKinds.join(', ')}`);
  return kind;
}

/**
 * Returns the address of the server. Error messages do not contain the given address, because the address may contain a
 * password.
 */
function serverUrl(given: string | undefined, { host, port }: Config, scheme: 'http' | 'https'): URL {
  if (given === undefined) {
    if (port === 0)
      throw usageError('PORT is 0, so the port of the server is unknown: use --server or LEDGERPLANE_SERVER');
    return new URL(`${scheme}://${reachable(host)}:${String(port)}/`);
  }
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/u.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw usageError('--server and LEDGERPLANE_SERVER must be addresses like http://127.0.0.1:8090');
  }
  if (url.username !== '' || url.password !== '')
    throw usageError(
      'the server address must not contain credentials: use LEDGERPLANE_TOKEN, or --user and LEDGERPLANE_PASSWORD',
    );
  return url;
}

/** Returns the host for requests. A server that listens on all interfaces is reached over the loopback interface. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
