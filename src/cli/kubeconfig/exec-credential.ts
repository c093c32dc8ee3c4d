import { createHash } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

import { decodeJson } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { execTokenMarginMs, execTokenMs } from '../../limits/settings.ts';
import { textOf } from '../answer-member.ts';
import { connect, requireTls, targetOf, type ConnectionOptions, type Target } from '../connection.ts';
import type { CommandContext } from '../command-context.ts';
import { deleteExpired, issueToken } from '../token-commands.ts';

export type CredentialOptions = ConnectionOptions & { readonly role?: readonly string[] | undefined };

/** The version of Kubernetes' interface between a client and a command that fetches credentials. */
export const credentialVersion = 'client.authentication.k8s.io/v1';

/** The description of the tokens that this command creates, by which the command finds expired tokens. */
const description = 'kubeconfig --exec';

type Credential = {
  readonly token: string;
  readonly expiresAt: string;
};

/**
 * Prints an `ExecCredential` with a token that is valid for one hour. The token is stored in a file and reused until
 * five minutes before its expiry.
 */
export async function printCredential(options: CredentialOptions, context: CommandContext): Promise<void> {
  const target = targetOf(options, context);
  requireTls(target);
  const file = fileOf(target, options);
  const now = context.clock.now();
  const kept = read(file);
  const isGood = kept !== undefined && Date.parse(kept.expiresAt) - execTokenMarginMs > now;
  const credential = isGood ? kept : await fetched(options, context);
  if (!isGood) write(file, credential);
  context.output.write(`${textFor(credential)}\n`);
}

async function fetched(options: CredentialOptions, context: CommandContext): Promise<Credential> {
  const connection = await connect(options, context);
  const now = context.clock.now();
  await deleteExpired(connection, description, now);
  const expiresAt = new Date(now + execTokenMs).toISOString();
  const { token } = await issueToken(connection, { description, roles: options.role ?? [], expiresAt });
  return { token, expiresAt };
}

function textFor({ token, expiresAt }: Credential): string {
  return JSON.stringify({
    apiVersion: credentialVersion,
    kind: 'ExecCredential',
    status: { token, expirationTimestamp: expiresAt },
  });
}

/** Returns the path of the file for a token. Each server, domain, user and set of roles has its own file. */
function fileOf({ environment, url, domain }: Target, { user = '', role: roles = [] }: CredentialOptions): string {
  const { XDG_CACHE_HOME: given = '' } = environment;
  const folder = join(isAbsolute(given) ? given : join(homedir(), '.cache'), 'ledgerplane');
  const key = JSON.stringify([url.href, domain, user, [...new Set(roles)].sort()]);
  return join(folder, `token-${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`);
}

/**
 * Returns the stored token; undefined if no valid file is stored, or if another user could have read or written the
 * file.
 */
function read(file: string): Credential | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const { mode, uid } = fstatSync(descriptor);
    if ((mode & 0o077) !== 0 || uid !== (process.getuid?.() ?? uid)) return undefined;
    const decoded = decodeJson(readFileSync(descriptor), { depthMax: jsonDepthMax });
    const token = decoded.ok ? textOf(decoded.value, 'status', 'token') : undefined;
    const expiresAt = decoded.ok ? textOf(decoded.value, 'status', 'expirationTimestamp') : undefined;
    return token === undefined || expiresAt === undefined ? undefined : { token, expiresAt };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Stores the token. If the file cannot be written, the next run of the command creates a new token. */
function write(file: string, credential: Credential): void {
  const draft = `${file}.${String(process.pid)}`;
  try {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    rmSync(draft, { force: true });
    writeFileSync(draft, textFor(credential), { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch {
    rmSync(draft, { force: true });
  }
}
