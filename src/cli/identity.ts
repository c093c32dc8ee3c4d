import { readFileSync } from 'node:fs';

import type { Environment } from '../config/environment.ts';
import { usageError } from './failure.ts';
import { askSecret } from './secret-prompt.ts';
import type { CommandContext } from './command-context.ts';

export type Identity =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'user'; readonly name: string; readonly password: string; readonly passwordFile?: string };

/** The default user: the administrator that the first start created (decision 7.7). */
const defaultUser = 'admin';
export type IdentityContext = {
  readonly environment: Environment;
  readonly passwordFile: string;
  readonly url: URL;
  readonly context: CommandContext;
};

/**
 * Determines the credentials. Prompts for the password if `--user` is set without LEDGERPLANE_PASSWORD. `--user` takes
 * precedence over a token in the environment.
 */
export async function identityOf(
  user: string | undefined,
  { environment, passwordFile, url, context }: IdentityContext,
): Promise<Identity> {
  const { LEDGERPLANE_TOKEN: token, LEDGERPLANE_PASSWORD: given } = environment;
  if (user === undefined && token !== undefined) return { kind: 'token', token: tokenText(token) };
  const name = user ?? defaultUser;
  // HTTP Basic separates name and password at the first colon.
  if (name === '' || name.includes(':')) throw usageError('--user must be a user name without ":"');
  if (given !== undefined) return { kind: 'user', name, password: given };
  if (user === undefined) return administratorOf(passwordFile, url);
  if (context.input.isTTY !== true)
    throw usageError(
      `cannot prompt for the password of ${JSON.stringify(name)} without a terminal: set LEDGERPLANE_PASSWORD`,
    );
  return {
    kind: 'user',
    name,
    password: await askSecret(`password of ${JSON.stringify(name)}: `, context),
  };
}

/** Checks that the token can be sent in a header. The error names the setting and does not contain the token. */
function tokenText(token: string): string {
  if (!/^[\x21-\x7e]+$/u.test(token))
    throw usageError('LEDGERPLANE_TOKEN contains characters that are not valid in a token');
  return token;
}

/**
 * Returns the administrator with the password in the password file. The password is sent only to a loopback address.
 */
function administratorOf(path: string, url: URL): Identity {
  const others = 'set LEDGERPLANE_TOKEN, or use --user and LEDGERPLANE_PASSWORD';
  if (!isLoopback(url.hostname)) throw usageError(`credentials are needed for ${url.origin}: ${others}`);
  try {
    return {
      kind: 'user',
      name: defaultUser,
      password: readFileSync(path, 'utf8').replace(/\r?\n$/u, ''),
      passwordFile: path,
    };
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw usageError(`${path}, the file with the password of ${defaultUser}, ${why}: ${others}`);
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d+){3}$/u.test(host);
}
