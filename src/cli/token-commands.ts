import type { Json } from '../base/json.ts';
import { listOf, memberOf, textOf, textsOf } from './answer-member.ts';
import { connect } from './connection.ts';
import type { Connection, ConnectionOptions } from './connection.ts';
import { expiryAt } from './kubeconfig/expiry.ts';
import { commandError, usageError } from './failure.ts';
import type { CommandContext } from './command-context.ts';
import { printable, textTable } from './text-table.ts';

export type TokenCreateOptions = ConnectionOptions & {
  readonly description?: string | undefined;
  readonly role?: readonly string[] | undefined;
  readonly expires?: string | undefined;
};

/** Returns the path of the caller's own tokens (decision 6.9). */
function tokensOf(domain: string): readonly string[] {
  return ['apis', `uc.api.${domain}`, 'v1alpha1', 'personalaccesstokens'];
}

export type NewToken = {
  readonly description: string | undefined;
  readonly roles: readonly string[];
  /** A time (RFC 3339); if undefined, the token never expires. */
  readonly expiresAt: string | undefined;
};

type CreatedToken = {
  readonly name: string;
  readonly token: string;
};

/**
 * Creates a token of the caller. Returns the name and the text of the token. The server never returns the text again.
 */
export async function issueToken(
  { client, domain }: Connection,
  { description, roles, expiresAt }: NewToken,
): Promise<CreatedToken> {
  const spec = {
    ...(description === undefined ? {} : { description }),
    ...(roles.length === 0 ? {} : { roles }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  const made = await client.send({
    method: 'POST',
    path: tokensOf(domain),
    body: { metadata: { generateName: 'token-' }, spec },
  });
  const token = textOf(made, 'status', 'token');
  if (token === undefined)
    throw commandError('the server created a token but did not return the text: revoke the token');
  return { name: printable(textOf(made, 'metadata', 'name') ?? ''), token: printable(token) };
}

/** Creates a token and prints only its text to standard output. The text is never shown again. */
export async function createToken(options: TokenCreateOptions, context: CommandContext): Promise<void> {
  const { description, role: roles = [], expires } = options;
  const expiresAt = expires === undefined ? undefined : expiryOption(expires, context);
  const { name, token } = await issueToken(await connect(options, context), { description, roles, expiresAt });
  context.output.write(`${token}\n`);
  const ends = expiresAt === undefined ? 'until it is revoked' : `until ${expiresAt}`;
  context.stderr.write(`created the token ${JSON.stringify(name)}, valid ${ends}; its text is not shown again\n`);
}

/**
 * Returns the expiry that the option `--expires` requests, as a UTC time. @throws CommandFailure for an invalid value.
 */
export function expiryOption(expires: string, { clock }: Pick<CommandContext, 'clock'>): string {
  const expiresAt = expiryAt(expires, clock.now());
  if (expiresAt !== undefined) return expiresAt;
  throw usageError(
    '--expires must be a duration (90m, 12h, 30d or 8w) or a time in the future, like 2030-01-31T12:00:00Z',
  );
}

/** Deletes expired tokens of the caller with this description, because the number of tokens is limited. */
export async function deleteExpired({ client, domain }: Connection, description: string, nowMs: number): Promise<void> {
  for (const token of listOf(await client.send({ method: 'GET', path: tokensOf(domain) }), 'items')) {
    const name = textOf(token, 'metadata', 'name');
    const expiresAt = textOf(token, 'spec', 'expiresAt');
    if (name === undefined || expiresAt === undefined || textOf(token, 'spec', 'description') !== description) continue;
    // Another process may have deleted the token, so a 404 is not an error.
    if (Date.parse(expiresAt) <= nowMs) await client.find({ method: 'DELETE', path: [...tokensOf(domain), name] });
  }
}

export async function revokeToken(name: string, options: ConnectionOptions, context: CommandContext): Promise<void> {
  if (/^\.{0,2}$/u.test(name)) throw usageError(`${JSON.stringify(name)} is not a valid token name`);
  // A token's text is a secret, and the path of a request may be logged.
  if (/^pat_[0-9a-f]{32}_/u.test(name))
    throw usageError('the argument is the text of a token: use the name of the token, as listed by `token list`');
  const { client, domain } = await connect(options, context);
  await client.send({
    method: 'PATCH',
    path: [...tokensOf(domain), name],
    body: { spec: { revoked: true } },
  });
  context.stderr.write(`revoked the token ${JSON.stringify(name)}\n`);
}

export async function listTokens(options: ConnectionOptions, context: CommandContext): Promise<void> {
  const { client, domain } = await connect(options, context);
  const tokens = listOf(await client.send({ method: 'GET', path: tokensOf(domain) }), 'items');
  const rows = tokens.map((token) => [
    textOf(token, 'metadata', 'name') ?? '',
    textOf(token, 'spec', 'description') ?? '',
    memberOf(token, 'spec', 'roles') === undefined ? 'all of the owner' : textsOf(token, 'spec', 'roles').join(','),
    textOf(token, 'spec', 'expiresAt') ?? 'never',
    textOf(token, 'status', 'lastUsedAt') ?? '',
    stateOf(token, context.clock.now()),
  ]);
  context.output.write(textTable(['NAME', 'DESCRIPTION', 'ROLES', 'EXPIRES', 'LAST USED', 'STATE'], rows));
}

function stateOf(token: Json, nowMs: number): string {
  if (memberOf(token, 'spec', 'revoked') === true || memberOf(token, 'metadata', 'deletionTimestamp') !== undefined)
    return 'revoked';
  const expiresAt = textOf(token, 'spec', 'expiresAt');
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs ? 'expired' : 'good';
}
