import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';

import { parse } from 'yaml';

import type { Clock } from '../../base/clock.ts';
import { isList, isObject } from '../../base/guards.ts';
import { tokenByCommand, type ExecCommand } from './exec-credential.ts';

/** The parts of a kubeconfig that a connection needs. */
export type KubeconfigConnection = {
  readonly url: string;
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  readonly token: string | (() => string | Promise<string>) | undefined;
};

export type KubeconfigOptions = {
  /**
   * The file, as JSON or YAML. The default is the first file in the variable `KUBECONFIG`, otherwise `~/.kube/config`.
   */
  readonly path?: string | undefined;
  /** The name of a context; `current-context` by default. */
  readonly context?: string | undefined;
};

type Members = Readonly<Record<string, unknown>>;

/**
 * Unsupported members of clusters and users, which determine the client's identity, its route to the server or its
 * trust in the server. Ignoring such a member would be unsafe, so the kubeconfig is refused.
 */
const unsupportedOfCluster = ['insecure-skip-tls-verify', 'proxy-url'];
const unsupportedOfUser = [
  'client-certificate',
  'client-certificate-data',
  'username',
  'password',
  'auth-provider',
  'as',
  'as-uid',
  'as-groups',
];

/**
 * Reads a kubeconfig. For an invalid file, throws an `Error` that names the file and the member, but contains no
 * credentials.
 */
export function readKubeconfig({ path, context }: KubeconfigOptions, clock: Clock): KubeconfigConnection {
  const file = resolve(path ?? defaultPath());
  const fail = (problem: string): Error => new Error(`${file}: ${problem}`);
  const config = parsed(file, fail);
  const name = context ?? config['current-context'];
  if (typeof name !== 'string' || name === '') throw fail('current-context is missing');
  const chosen = entry(config, { list: 'contexts', member: 'context', name }, fail);
  const cluster = entry(config, { list: 'clusters', member: 'cluster', name: text(chosen, 'cluster') ?? '' }, fail);
  const user = text(chosen, 'user');
  const identity = user === undefined ? {} : entry(config, { list: 'users', member: 'user', name: user }, fail);
  for (const member of unsupportedOfCluster)
    if (isGiven(cluster[member])) throw fail(`${member} of a cluster is not supported`);
  for (const member of unsupportedOfUser)
    if (isGiven(identity[member])) throw fail(`${member} of a user is not supported: use token, tokenFile or exec`);
  const url = text(cluster, 'server');
  if (url === undefined) throw fail('the cluster has no server');
  return {
    url,
    ca: authorityOf(cluster, dirname(file)),
    serverName: text(cluster, 'tls-server-name'),
    token: tokenOf(identity, { folder: dirname(file), clock, fail }),
  };
}

function defaultPath(): string {
  const { KUBECONFIG: given = '' } = process.env;
  const [first] = given.split(delimiter).filter((each) => each !== '');
  return first ?? join(homedir(), '.kube', 'config');
}

function parsed(file: string, fail: (problem: string) => Error): Members {
  let config: unknown;
  try {
    config = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // The error omits the parser's message, which quotes lines of the file that may contain a token.
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw fail(`the file cannot be read as JSON or YAML${code}`);
  }
  if (!isObject(config)) throw fail('the file is not a kubeconfig');
  return config;
}

type NamedEntry = {
  readonly list: string;
  readonly member: string;
  readonly name: string;
};

function entry(config: Members, { list, member, name }: NamedEntry, fail: (problem: string) => Error): Members {
  const entries = config[list];
  const found = isList(entries) ? entries.filter(isObject).find((each) => each['name'] === name) : undefined;
  const value = found?.[member];
  if (!isObject(value)) throw fail(`${list} has no ${member} ${JSON.stringify(name)}`);
  return value;
}

function authorityOf(cluster: Members, folder: string): string | undefined {
  const data = text(cluster, 'certificate-authority-data');
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const file = text(cluster, 'certificate-authority');
  return file === undefined ? undefined : readFileSync(resolve(folder, file), 'utf8');
}

type ExecContext = {
  readonly folder: string;
  readonly clock: Clock;
  readonly fail: (problem: string) => Error;
};

function tokenOf(identity: Members, { folder, clock, fail }: ExecContext): KubeconfigConnection['token'] {
  const file = text(identity, 'tokenFile');
  // As in Kubernetes, `tokenFile` takes precedence. The file is read for each request, because the token may be
  // renewed.
  if (file !== undefined) return () => readFileSync(resolve(folder, file), 'utf8').trim();
  const token = text(identity, 'token');
  if (token !== undefined) return token;
  const { exec } = identity;
  if (exec === undefined || exec === null) return undefined;
  const command = isObject(exec) ? commandOf(exec, folder) : undefined;
  if (command === undefined) throw fail('exec of the user has no command, or its args or env are invalid');
  return tokenByCommand(command, clock);
}

function commandOf(exec: Members, folder: string): ExecCommand | undefined {
  const { args, env, apiVersion } = exec;
  const command = text(exec, 'command');
  const listed = listOf(args);
  const variables = environmentOf(listOf(env));
  if (command === undefined || variables === undefined || !listed.every((each) => typeof each === 'string'))
    return undefined;
  return {
    // A command with a slash is relative to the folder of the kubeconfig; a bare name is looked up in PATH.
    command: /[/\\]/u.test(command) && !isAbsolute(command) ? resolve(folder, command) : command,
    args: listed,
    env: variables,
    apiVersion: typeof apiVersion === 'string' ? apiVersion : 'client.authentication.k8s.io/v1',
    folder,
  };
}

/**
 * Returns the elements of a list; none for an absent value. For a value that is not a list, returns an invalid element,
 * which is refused later.
 */
function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return isList(value) ? value : [value, undefined];
}

function environmentOf(variables: readonly unknown[]): Readonly<Record<string, string>> | undefined {
  const pairs: [string, string][] = [];
  for (const each of variables) {
    const { name, value }: Members = isObject(each) ? each : {};
    if (typeof name !== 'string' || typeof value !== 'string') return undefined;
    pairs.push([name, value]);
  }
  return Object.fromEntries(pairs);
}

function text(members: Members, name: string): string | undefined {
  const value = members[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}
