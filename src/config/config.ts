import { resolve } from 'node:path';

import type { OidcSettings } from '../access/identity-provider.ts';
import { parseByteCount } from '../base/byte-count.ts';
import type { Environment } from './environment.ts';
import { eventStorePrefixDefault, eventStorePrefixProblem } from './eventstore-prefix.ts';
import { pluginsDisabledMax, trustedProxiesMax } from '../limits/settings.ts';
import { writeBytesPerUserDefault, writesPerUserDefault } from '../limits/writes.ts';
import {
  byteCountProblem,
  domainProblem,
  eventLogProblem,
  hostProblem,
  issuerProblem,
  passwordProblem,
  pathProblem,
  portProblem,
  publicUrlProblem,
  rateProblem,
  textProblem,
  urlProblem,
} from './setting-problems.ts';
import { Settings } from './settings.ts';
import { tlsSetting, type TlsSetting } from './tls-setting.ts';

/** The settings, decoded from environment variables (decision 11.2). */
export type Config = {
  readonly host: string;
  /** The port. 0 means any free port. */
  readonly port: number;
  /** The allowed values of the Host header, with or without a port. An empty list allows any value. */
  readonly allowedHosts: readonly string[];
  /**
   * The URL under which browsers reach this server, without a slash at the end. If undefined, the server uses the host
   * of the request.
   */
  readonly publicUrl: string | undefined;
  /** The absolute path of DATA_DIR. */
  readonly dataDir: string;
  readonly eventLog: EventLogSetting;
  /** The absolute path of the folder for backups; undefined without backups. */
  readonly backupDir: string | undefined;
  /**
   * The number of free bytes on the disk of DATA_DIR below which the server refuses clients' writes other than
   * deletions. If undefined, the number is a share of the disk.
   */
  readonly diskReserveBytes: number | undefined;
  readonly platformDomain: string;
  /** The absolute paths of folders with plugins, in addition to the bundled plugins. */
  readonly pluginsDirs: readonly string[];
  /** The names of plugins that are never loaded. */
  readonly pluginsDisabled: readonly string[];
  /** The addresses and CIDR ranges of proxies with trusted forwarding headers. */
  readonly trustedProxies: readonly string[];
  /** The administrator's password, used only at the first start (decision 7.7). */
  readonly adminPassword: string | undefined;
  readonly logLevel: LogLevel;
  /** Whether log-ins, log-outs and refusals are recorded in the event log. */
  readonly accessEvents: 'on' | 'off';
  readonly oidc: OidcSettings | undefined;
  /** The number of writes per second that one user may make; ten times as many in a burst; 0 for unlimited. */
  readonly writesPerUser: number;
  /** The number of bytes per second that one user may add to the log; ten times as many in a burst; 0 for unlimited. */
  readonly writeBytesPerUser: number;
  readonly tls: TlsSetting;
  /** Whether the web console is served. */
  readonly console: 'on' | 'off';
};

/**
 * The location of the event log. The URL may contain a password and must never be printed. `prefix` is the prefix of
 * the log's stream names.
 */
export type EventLogSetting =
  { readonly kind: 'embedded' } | { readonly kind: 'eventstore'; readonly url: string; readonly prefix: string };

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type DecodedConfig =
  { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly mistakes: readonly string[] };

/** Decodes the environment, and returns all problems together. `folder` is the base of relative paths. */
export function decodeConfig(environment: Environment, folder: string): DecodedConfig {
  const mistakes: string[] = [];
  const settings = new Settings(environment, mistakes);
  const eventLog = eventLogSetting(settings);
  const dataDir = resolve(folder, settings.read('DATA_DIR', 'data', pathProblem));
  const config: Config = {
    host: settings.read('HOST', '127.0.0.1', hostProblem),
    port: Number(settings.read('PORT', '8090', portProblem)),
    allowedHosts: settings.hosts('ALLOWED_HOSTS'),
    publicUrl: settings.optional('PUBLIC_URL', publicUrlProblem)?.replace(/\/+$/u, ''),
    dataDir,
    backupDir: settings.folderBeside('BACKUP_DIR', folder, dataDir),
    eventLog,
    diskReserveBytes: parseByteCount(settings.read('DISK_RESERVE', '', byteCountProblem)),
    platformDomain: settings.read('PLATFORM_DOMAIN', 'svc.run', domainProblem),
    pluginsDirs: settings.folders('PLUGINS_DIRS', folder),
    pluginsDisabled: settings.names('PLUGINS_DISABLED', pluginsDisabledMax),
    trustedProxies: settings.networks('TRUSTED_PROXIES', trustedProxiesMax),
    adminPassword: settings.optional('ADMIN_PASSWORD', passwordProblem),
    logLevel: settings.oneOf('LOG_LEVEL', 'info', logLevels),
    accessEvents: settings.oneOf('ACCESS_EVENTS', 'on', ['on', 'off'] as const),
    oidc: oidcSettings(environment, settings, mistakes),
    writesPerUser: Number(settings.read('WRITES_PER_USER', String(writesPerUserDefault), rateProblem)),
    writeBytesPerUser: Number(settings.read('WRITE_BYTES_PER_USER', String(writeBytesPerUserDefault), rateProblem)),
    tls: tlsSetting(settings, { folder, mistakes, isAlone: eventLog.kind === 'embedded' }),
    console: settings.oneOf('CONSOLE', 'on', ['on', 'off'] as const),
  };
  return mistakes.length === 0 ? { ok: true, config } : { ok: false, mistakes };
}

const oidcNames: ReadonlySet<string> = new Set([
  'OIDC_ISSUER',
  'OIDC_AUDIENCE',
  'OIDC_USERNAME_CLAIM',
  'OIDC_JWKS_URL',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
]);

/**
 * Decodes the settings of the identity provider. If one of them is set, the issuer is required, and also the audience
 * or the client's ID: without a check of the audience, the server would accept tokens that are intended for another
 * service. With the client's ID but no audience, the server accepts no bearer tokens of the provider.
 */
function oidcSettings(environment: Environment, settings: Settings, mistakes: string[]): OidcSettings | undefined {
  const given = Object.keys(environment).filter((name) => name.startsWith('OIDC_') && environment[name] !== undefined);
  for (const name of given)
    if (!oidcNames.has(name))
      mistakes.push(`${name} is not a setting; the OIDC settings are ${[...oidcNames].join(', ')}`);
  if (!given.some((name) => oidcNames.has(name))) return undefined;
  const required = environment['OIDC_CLIENT_ID'] === undefined ? ['OIDC_ISSUER', 'OIDC_AUDIENCE'] : ['OIDC_ISSUER'];
  for (const name of required)
    if (environment[name] === undefined) mistakes.push(`${name} is required when any OIDC_* setting is set`);
  const id = settings.optional('OIDC_CLIENT_ID', textProblem);
  const secret = settings.optional('OIDC_CLIENT_SECRET', textProblem);
  if (secret !== undefined && id === undefined) mistakes.push('OIDC_CLIENT_SECRET requires OIDC_CLIENT_ID');
  return {
    issuer: settings.read('OIDC_ISSUER', '', issuerProblem),
    audience: settings.optional('OIDC_AUDIENCE', textProblem),
    usernameClaim: settings.read('OIDC_USERNAME_CLAIM', 'sub', textProblem),
    jwksUrl: settings.optional('OIDC_JWKS_URL', urlProblem),
    client: id === undefined ? undefined : { id, secret },
  };
}

/**
 * EVENTSTORE_PREFIX is also allowed with an embedded log, because `log copy` uses the prefix for a log in EventStoreDB.
 */
function eventLogSetting(settings: Settings): EventLogSetting {
  const url = settings.read('EVENT_LOG', 'embedded:', eventLogProblem);
  const prefix = settings.read('EVENTSTORE_PREFIX', eventStorePrefixDefault, eventStorePrefixProblem);
  return url === 'embedded:' ? { kind: 'embedded' } : { kind: 'eventstore', url, prefix };
}
