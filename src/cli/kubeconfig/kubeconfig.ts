import { connect, requireTls, targetOf, type Connection, type ConnectionOptions } from '../connection.ts';
import { credentialVersion } from './exec-credential.ts';
import { usageError } from '../failure.ts';
import type { CommandContext } from '../command-context.ts';
import { expiryOption, issueToken } from '../token-commands.ts';

export type KubeconfigOptions = ConnectionOptions & {
  readonly role?: readonly string[] | undefined;
  readonly expires?: string | undefined;
  readonly exec?: boolean | undefined;
};

const defaultExpiry = '30d';

/**
 * Prints a configuration for kubectl and Kubernetes' client libraries as JSON, which is also valid YAML. The
 * configuration contains either a new token, or the command that fetches tokens.
 */
export async function printKubeconfig(options: KubeconfigOptions, context: CommandContext): Promise<void> {
  const { role: roles = [], expires, exec = false } = options;
  if (exec && expires !== undefined)
    throw usageError('--expires cannot be used with --exec: the tokens of --exec are valid for one hour');
  const expiresAt = expiryOption(expires ?? defaultExpiry, context);
  const target = targetOf(options, context);
  requireTls(target);
  const connection = await connect(options, context);
  const user = exec
    ? { exec: execOf(options, connection, context) }
    : { token: (await issueToken(connection, { description: 'kubeconfig', roles, expiresAt })).token };
  context.output.write(`${JSON.stringify(configOf(connection, user), undefined, 2)}\n`);
  if (!exec)
    context.stderr.write(
      `the configuration contains a token that is valid until ${expiresAt}: keep the file private (chmod 600)\n`,
    );
}

function configOf({ url, authority, identity }: Connection, user: object): object {
  const cluster = url.host;
  const name = `${identity.kind === 'user' ? identity.name : 'token'}@${cluster}`;
  const data = authority === undefined ? {} : { 'certificate-authority-data': base64(authority.text) };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: { server: url.href.replace(/\/$/u, ''), ...data } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster, user: name } }],
    'current-context': name,
  };
}

/**
 * Returns the command that fetches a token. kubectl may run the command in any folder, so the result contains the
 * settings that the command needs.
 */
function execOf(
  { user, role: roles = [] }: KubeconfigOptions,
  { url, domain, dataDir, authority, identity }: Connection,
  { program: [command, ...before] }: CommandContext,
): object {
  if (identity.kind === 'token')
    throw usageError('a token cannot create tokens: unset LEDGERPLANE_TOKEN, and use --user if you are not admin');
  const args = ['credential', '--server', url.href, '--domain', domain];
  if (user !== undefined) args.push('--user', user);
  for (const role of roles) args.push('--role', role);
  const env = { DATA_DIR: dataDir, LEDGERPLANE_TOKEN: '', LEDGERPLANE_CA: authority?.file ?? '' };
  return {
    apiVersion: credentialVersion,
    command,
    args: [...before, ...args],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
