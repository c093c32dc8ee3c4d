import { isTrustedUrl, type OidcSettings } from './access/identity-provider.ts';
import { eventStorePrefixDefault, eventStorePrefixProblem } from './eventstore-prefix.ts';
import { eventStoreUrlProblem } from './eventstore-url.ts';
import {
  adminPasswordLengthMax, allowedHostsMax, platformDomainLengthMax, pluginsDisabledMax, rateSettingMax, settingLengthMax,
  trustedProxiesMax,
} from './limits/settings.ts';
import { writeBytesPerUserDefault, writesPerUserDefault } from './limits/writes.ts';
import { readFileSync, statSync } from 'node:fs';
import { isIP, SocketAddress } from 'node:net';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';

import { allowedHostProblem, isHostName } from './base/host-names.ts';
import { parseByteCount } from './base/byte-count.ts';
import { nameProblem, subdomainProblem } from './resource/names.ts';
import { StartError } from './base/start-error.ts';

/**
 * The environment, decoded once (decision 11.2). Nothing else reads a variable, and no part of the server sees one it did
 * not ask for.
 */
export type Config = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Names that a request's Host may have, with or without a port; empty: any. */
  readonly allowedHosts: readonly string[];
  /** Absolute. */
  readonly dataDir: string;
  readonly eventLog: EventLogSetting;
  /** Bytes of DATA_DIR's disk that clients' writes leave free, 0 for none; undefined: by the size of the disk. */
  readonly diskReserveBytes: number | undefined;
  readonly platformDomain: string;
  /** Absolute; beside the bundled plugins, which are always loaded. */
  readonly pluginsDirs: readonly string[];
  /** Names of plugins of which no code is run, wherever they come from. */
  readonly pluginsDisabled: readonly string[];
  /** Addresses and CIDR ranges whose word on a client's address counts. */
  readonly trustedProxies: readonly string[];
  /** Counts at the first start only (decision 7.7). */
  readonly adminPassword: string | undefined;
  readonly logLevel: LogLevel;
  /** The identity provider whose tokens count; undefined: none. */
  readonly oidc: OidcSettings | undefined;
  /** What one user may write in a second; 0: as much as they can. */
  readonly writesPerUser: number;
  readonly writeBytesPerUser: number;
};

/** Where the events are. The URL may hold a password: it is never repeated. `prefix`: of the names of the log's streams there. */
export type EventLogSetting = { readonly kind: 'embedded' } | { readonly kind: 'eventstore'; readonly url: string; readonly prefix: string };

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

export type DecodedConfig = { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly mistakes: readonly string[] };

/** The process's variables over those of `.env` in `folder`. A variable set to nothing counts as not set. */
export function readEnvironment(folder: string, variables: Environment): Environment {
  return { ...withoutEmpty(readEnvFile(join(folder, '.env'))), ...withoutEmpty(variables) };
}

/** All mistakes at once. `folder` is what relative paths start from. */
export function decodeConfig(environment: Environment, folder: string): DecodedConfig {
  const mistakes: string[] = [];
  const settings = new Settings(environment, mistakes);
  settings.read('TLS', 'off', tlsProblem);
  for (const name of Object.keys(environment)) {
    if (environment[name] !== undefined && unsupportedNames.has(name)) mistakes.push(`${name} is not supported by this version yet`);
  }
  const config: Config = {
    host: settings.read('HOST', '127.0.0.1', hostProblem),
    port: Number(settings.read('PORT', '8090', portProblem)),
    allowedHosts: settings.hosts('ALLOWED_HOSTS'),
    dataDir: resolve(folder, settings.read('DATA_DIR', 'data', pathProblem)),
    eventLog: eventLogSetting(settings),
    diskReserveBytes: parseByteCount(settings.read('DISK_RESERVE', '', byteCountProblem)),
    platformDomain: settings.read('PLATFORM_DOMAIN', 'svc.run', domainProblem),
    pluginsDirs: settings.folders('PLUGINS_DIRS', folder),
    pluginsDisabled: settings.names('PLUGINS_DISABLED', pluginsDisabledMax),
    trustedProxies: settings.networks('TRUSTED_PROXIES', trustedProxiesMax),
    adminPassword: settings.optional('ADMIN_PASSWORD', passwordProblem),
    logLevel: settings.oneOf('LOG_LEVEL', 'info', logLevels),
    oidc: oidcSettings(environment, settings, mistakes),
    writesPerUser: Number(settings.read('WRITES_PER_USER', String(writesPerUserDefault), rateProblem)),
    writeBytesPerUser: Number(settings.read('WRITE_BYTES_PER_USER', String(writeBytesPerUserDefault), rateProblem)),
  };
  return mistakes.length === 0 ? { ok: true, config } : { ok: false, mistakes };
}

/** Reads variables and collects what is wrong with them; a wrong one reads as its default. */
class Settings {
  readonly #environment: Environment;
  readonly #mistakes: string[];

  constructor(environment: Environment, mistakes: string[]) {
    this.#environment = environment;
    this.#mistakes = mistakes;
  }

  read(name: string, byDefault: string, problemOf: (value: string) => string | undefined): string {
    const value = this.#environment[name];
    if (value === undefined) return byDefault;
    const problem = problemOf(value);
    if (problem === undefined) return value;
    this.#mistakes.push(`${name} ${problem}`);
    return byDefault;
  }

  optional(name: string, problemOf: (value: string) => string | undefined): string | undefined {
    const value = this.read(name, '', problemOf);
    return value === '' ? undefined : value;
  }

  oneOf<Value extends string>(name: string, byDefault: Value, values: readonly Value[]): Value {
    const given = this.read(name, byDefault, (value) => values.some((allowed) => allowed === value) ? undefined : `must be one of ${values.join(', ')}, is ${quote(value)}`);
    return values.find((value) => value === given) ?? byDefault;
  }

  names(name: string, countMax: number): readonly string[] {
    const names = this.#list(name);
    if (names.length > countMax) this.#mistakes.push(`${name} must have at most ${countMax.toString()} names, has ${names.length.toString()}`);
    const wrong = names.find((entry) => nameProblem(entry) !== undefined);
    if (wrong !== undefined) this.#mistakes.push(`${name} holds ${quote(wrong)}, which is not a plugin name`);
    return names;
  }

  networks(name: string, countMax: number): readonly string[] {
    const networks = this.#list(name);
    if (networks.length > countMax) {
      this.#mistakes.push(`${name} must have at most ${countMax.toString()} ranges, has ${networks.length.toString()}`);
    }
    for (const entry of networks.slice(0, countMax)) {
      const problem = networkProblem(entry);
      if (problem !== undefined) this.#mistakes.push(`${name} holds ${quote(entry)}, which ${problem}`);
    }
    return networks;
  }

  hosts(name: string): readonly string[] {
    const hosts = this.#list(name);
    if (hosts.length > allowedHostsMax) {
      this.#mistakes.push(`${name} must have at most ${String(allowedHostsMax)} names, has ${String(hosts.length)}`);
    }
    for (const host of hosts) {
      const problem = allowedHostProblem(host);
      if (problem !== undefined) this.#mistakes.push(`${name} holds ${quote(host)}, ${problem}`);
    }
    return hosts.map((host) => host.replace(/\.(?=$|:\d+$)/u, ''));
  }

  #list(name: string): readonly string[] {
    return [...new Set((this.#environment[name] ?? '').split(',').map((entry) => entry.trim()).filter((entry) => entry !== ''))];
  }

  folders(name: string, base: string): readonly string[] {
    const folders = [...new Set(this.#list(name).map((entry) => resolve(base, entry)))];
    for (const folder of folders) {
      if (!isFolder(folder)) this.#mistakes.push(`${name} names ${quote(folder)}, which is not a folder`);
    }
    return folders;
  }
}

const unsupportedNames: ReadonlySet<string> = new Set(['TLS_CERT', 'TLS_KEY']);
const oidcNames: ReadonlySet<string> = new Set(['OIDC_ISSUER', 'OIDC_AUDIENCE', 'OIDC_USERNAME_CLAIM', 'OIDC_JWKS_URL']);

/** All of them or none: a token without an audience to check could have been given to anybody. */
function oidcSettings(environment: Environment, settings: Settings, mistakes: string[]): OidcSettings | undefined {
  const given = Object.keys(environment).filter((name) => name.startsWith('OIDC_') && environment[name] !== undefined);
  for (const name of given) if (!oidcNames.has(name)) mistakes.push(`${name} is not a setting; the OIDC settings are ${[...oidcNames].join(', ')}`);
  if (!given.some((name) => oidcNames.has(name))) return undefined;
  for (const name of ['OIDC_ISSUER', 'OIDC_AUDIENCE']) if (environment[name] === undefined) mistakes.push(`${name} is required when any OIDC_* setting is set`);
  return {
    issuer: settings.read('OIDC_ISSUER', '', issuerProblem),
    audience: settings.read('OIDC_AUDIENCE', '', textProblem),
    usernameClaim: settings.read('OIDC_USERNAME_CLAIM', 'sub', textProblem),
    jwksUrl: settings.optional('OIDC_JWKS_URL', urlProblem),
  };
}

function issuerProblem(value: string): string | undefined {
  return urlProblem(value) ?? (new URL(value).search === '' ? undefined : 'must have no query');
}

/** It is not repeated: somebody may have put credentials into it. */
function urlProblem(value: string): string | undefined {
  return isTrustedUrl(value) ? undefined : 'must be an https URL without credentials or fragment (http on a loopback address)';
}

function textProblem(value: string): string | undefined {
  return value.length <= settingLengthMax && !/\p{Cc}/u.test(value) ? undefined : `must be at most ${settingLengthMax.toString()} characters, none of them a control character`;
}

function hostProblem(value: string): string | undefined {
  return isIP(value) !== 0 || isHostName(value) ? undefined : `must be an address or a host name, is ${quote(value)}`;
}

/** A range of everybody would let any client name any address; a mapped one would match nothing, as IPv4 is kept as IPv4. */
function networkProblem(value: string): string | undefined {
  const [address = '', prefix, ...more] = value.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const isRange = prefix === undefined || (/^\d{1,3}$/u.test(prefix) && Number(prefix) <= bits);
  if (isIP(address) === 0 || address.includes('%') || !isRange || more.length > 0) {
    return 'is neither an IP address nor a CIDR range';
  }
  if (Number(prefix) === 0) return 'contains every address: list the proxies only';
  return /^::ffff:/iu.test(new SocketAddress({ address, family: bits === 32 ? 'ipv4' : 'ipv6' }).address) ? 'is IPv4-mapped: write it as IPv4' : undefined;
}

const portProblem = countProblem(65_535);
const rateProblem = countProblem(rateSettingMax);

function countProblem(max: number): (value: string) => string | undefined {
  const isCount = (value: string): boolean => /^\d{1,16}$/u.test(value) && Number(value) <= max;
  return (value) => isCount(value) ? undefined : `must be a whole number from 0 to ${String(max)}, is ${quote(value)}`;
}

function byteCountProblem(value: string): string | undefined {
  if (parseByteCount(value) !== undefined) return undefined;
  return `must be a number of bytes such as 1073741824, 512MiB or 2GB, is ${quote(value)}`;
}

function pathProblem(value: string): string | undefined {
  return value.includes('\0') ? 'must not hold a NUL' : undefined;
}

function domainProblem(value: string): string | undefined {
  if (value.length > platformDomainLengthMax) return `must be at most ${platformDomainLengthMax.toString()} characters, is ${value.length.toString()}`;
  const problem = subdomainProblem(value);
  return problem === undefined ? undefined : `${problem}, is ${quote(value)}`;
}

/** Neither the password nor an event log's address, which may hold one, is ever repeated. */
function passwordProblem(value: string): string | undefined {
  if (/\p{Cc}/u.test(value)) return 'must not hold control characters';
  return value.length <= adminPasswordLengthMax ? undefined : `must be at most ${adminPasswordLengthMax.toString()} characters`;
}

/** The prefix may be set for another log than the server's: one that is copied from or into. */
function eventLogSetting(settings: Settings): EventLogSetting {
  const url = settings.read('EVENT_LOG', 'embedded:', eventLogProblem);
  const prefix = settings.read('EVENTSTORE_PREFIX', eventStorePrefixDefault, eventStorePrefixProblem);
  return url === 'embedded:' ? { kind: 'embedded' } : { kind: 'eventstore', url, prefix };
}

function eventLogProblem(value: string): string | undefined {
  if (value === 'embedded:') return undefined;
  return /^esdb(?:\+discover)?:\/\//u.test(value) ? eventStoreUrlProblem(value) : 'must be embedded: or esdb://…';
}

function tlsProblem(value: string): string | undefined {
  if (value === 'off') return undefined;
  if (value === 'auto' || value === 'files') return `${value} is not supported by this version yet: use off`;
  return `must be off, auto or files, is ${quote(value)}`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function readEnvFile(path: string): Environment {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new StartError(`${path} cannot be read: ${String(error)}`, { exitCode: 2, cause: error });
  }
  return { ...parseEnv(text) };
}

function withoutEmpty(variables: Environment): Environment {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''));
}

function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}
