import { connect } from './connection.ts';
import type { Connection, ConnectionOptions } from './connection.ts';
import { CommandFailure, commandError, usageError } from './failure.ts';
import { newPassword } from './secret-prompt.ts';
import type { CommandContext } from './command-context.ts';

export type UserAddOptions = ConnectionOptions & {
  readonly displayName?: string | undefined;
  readonly email?: string | undefined;
  readonly role?: readonly string[] | undefined;
  readonly generate?: boolean | undefined;
};

export type UserPasswdOptions = ConnectionOptions & { readonly generate?: boolean | undefined };

const users = ['api', 'v1alpha1', 'users'];

export async function addUser(name: string, options: UserAddOptions, context: CommandContext): Promise<void> {
  checkName(name);
  const { displayName, email, role: roles = [], generate = false } = options;
  const connection = await connect(options, context);
  const password = await newPassword({ user: name, generate }, context);
  await connection.client.send({
    method: 'POST',
    path: users,
    body: {
      apiVersion: 'v1alpha1',
      kind: 'User',
      metadata: { name },
      spec: {
        ...(displayName === undefined ? {} : { displayName }),
        ...(email === undefined ? {} : { email }),
        password,
      },
    },
  });
  // The password is printed first, because the user exists now and the password is stored nowhere else.
  if (generate) context.output.write(`${password}\n`);
  context.stderr.write(`added the user ${JSON.stringify(name)}\n`);
  if (roles.length > 0) await giveRoles(name, roles, connection);
}

export async function changePassword(name: string, options: UserPasswdOptions, context: CommandContext): Promise<void> {
  checkName(name);
  const { generate = false } = options;
  const { client, identity, domain } = await connect(options, context);
  const password = await newPassword({ user: name, generate }, context);
  const own = identity.kind === 'user' && identity.name === name;
  await client.send(
    own
      ? {
          method: 'PUT',
          path: ['apis', `uc.api.${domain}`, 'v1alpha1', 'users', '-', 'password'],
          body: { currentPassword: identity.password, password },
        }
      : {
          method: 'PATCH',
          path: [...users, name],
          body: { spec: { password } },
        },
  );
  if (generate) context.output.write(`${password}\n`);
  context.stderr.write(`changed the password of ${JSON.stringify(name)} and ended the user's sessions\n`);
  if (own && identity.passwordFile !== undefined)
    context.stderr.write(`the password in ${identity.passwordFile} is no longer valid: remove the file\n`);
}

async function giveRoles(name: string, roles: readonly string[], { client, domain }: Connection): Promise<void> {
  try {
    await client.send({
      method: 'POST',
      path: ['apis', `api.console.${domain}`, 'v1alpha1', 'users', name, 'permissions'],
      body: { roles },
    });
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw commandError(`the user was added, but without roles: ${error.message}`);
  }
}

/** Refuses names that would change the path of the request. The server checks all other rules. */
function checkName(name: string): void {
  if (/^(?:|-|\.{1,2})$/u.test(name)) throw usageError(`${JSON.stringify(name)} is not a valid user name`);
}
