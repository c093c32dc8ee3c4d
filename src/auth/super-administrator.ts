import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { superRole } from '../access/role-names.ts';
import type { Command, WriteOutcome } from '../command/command.ts';
import { platformContext } from '../command/platform-context.ts';
import type { PlatformSubject } from '../command/subject.ts';
import type { Execute } from '../write/execute.ts';
import type { JsonObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { Passwords } from './passwords/password.ts';
import type { PermissionReader, UserRecord } from '../read/permission-reader.ts';
import type { Secrets } from './authentication/secrets.ts';

/** The super administrator that the first start creates. */
export const administrator = 'admin';
const bindingName = `${administrator}-${superRole}`;

export type AdministratorOptions = {
  readonly permissions: Pick<PermissionReader, 'holders' | 'user'>;
  readonly execute: Execute;
  /** The types User and RoleBinding. */
  readonly users: ResourceType;
  readonly roleBindings: ResourceType;
  readonly secrets: Pick<Secrets, 'passwordHash'>;
  readonly passwords: Pick<Passwords, 'verify' | 'turns'>;
  readonly uuid: () => string;
  readonly dataDir: string;
  /** `ADMIN_PASSWORD`, used only if there is no super administrator and the user `admin` has no password. */
  readonly password: string | undefined;
};

/** `notices` are for the operator, and contain no password. */
export type AdministratorReport = {
  readonly created: boolean;
  readonly notices: readonly string[];
};

const platform: PlatformSubject = { kind: 'platform', part: 'administrator' };

/**
 * Creates the user `admin` and binds the user to the super role, if no user has this role (decision 7.7). Each step
 * checks the current state, so the next start completes an interrupted start, and only one of several nodes creates
 * each object.
 */
export async function ensureAdministrator(options: AdministratorOptions): Promise<AdministratorReport> {
  const { permissions } = options;
  if (isHeld(permissions)) return { created: false, notices: await comparePassword(options) };
  const made = await ensureUser(permissions.user(administrator), options);
  const bound = await ensureBinding(options);
  return { created: made.created, notices: [...made.notices, ...bound] };
}

/** Returns whether at least one user that can log in is a super administrator. */
export function isHeld(permissions: Pick<PermissionReader, 'holders'>): boolean {
  for (const holder of permissions.holders(superRole)) return holder.user !== '';
  return false;
}

async function comparePassword(options: AdministratorOptions): Promise<readonly string[]> {
  const { password } = options;
  if (password === undefined || (await isPassword(options, password))) return [];
  return [`ADMIN_PASSWORD applies at the first start only: the password of "${administrator}" is unchanged`];
}

async function isPassword(
  { permissions, secrets, passwords }: AdministratorOptions,
  password: string,
): Promise<boolean> {
  const user = permissions.user(administrator);
  const stored =
    user?.passwordRevision === undefined ? undefined : secrets.passwordHash(user.uid, user.passwordRevision);
  if (stored === undefined) return false;
  const turned = await passwords.turns.run({ network: '', isKnown: true }, () => passwords.verify(password, stored));
  return turned.done && turned.result;
}

async function ensureUser(user: UserRecord | undefined, options: AdministratorOptions): Promise<AdministratorReport> {
  if (user === undefined) return makeUser(options);
  const notices: string[] = [];
  if (user.passwordRevision === undefined) {
    const { where } = await withPassword(options, async (password) =>
      write(options, options.users, mergeOf(administrator, { spec: { password } })),
    );
    notices.push(`set a password for the user "${administrator}": ${where}`);
  } else {
    notices.push(...(await comparePassword(options)));
  }
  if (user.isDisabled) {
    settled(await write(options, options.users, mergeOf(administrator, { spec: { disabled: false } })));
    notices.push(`enabled the user "${administrator}" again: there was no super administrator`);
  }
  return { created: false, notices };
}

async function makeUser(options: AdministratorOptions): Promise<AdministratorReport> {
  const { outcome, where } = await withPassword(options, async (password) =>
    write(options, options.users, {
      type: 'create',
      object: { ...identityOf(options.users, administrator), spec: { displayName: 'Administrator', password } },
    }),
  );
  if (outcome === 'exists')
    return { created: false, notices: [`another node created the super administrator "${administrator}"`] };
  return { created: true, notices: [`created the super administrator "${administrator}": ${where}`] };
}

type WrittenPassword = {
  readonly outcome: 'written' | 'exists';
  readonly where: string;
};

/**
 * Writes a generated password to a file before the user is written, so that a valid password is never lost. The file is
 * deleted only if the password is certainly invalid, because an append with an unknown outcome may still succeed.
 */
async function withPassword(
  options: AdministratorOptions,
  use: (password: string) => Promise<WriteOutcome>,
): Promise<WrittenPassword> {
  const { dataDir, password } = options;
  const path = join(dataDir, 'admin-password');
  const chosen = password ?? randomBytes(18).toString('base64url');
  if (password === undefined) await writePassword(path, chosen);
  const outcome = await use(chosen);
  // The write may have been appended even if its retry is rejected. A generated password is random, so if the user has
  // this password, the write was appended.
  const counts = outcome.ok || (password === undefined && (await isPassword(options, chosen)));
  const isRefused = !counts && outcome.rejection.reason !== 'unavailable';
  if (isRefused && password === undefined) await rm(path, { force: true });
  if (!counts && outcome.rejection.reason === 'already-exists') return { outcome: 'exists', where: '' };
  if (!counts) settled(outcome);
  return {
    outcome: 'written',
    where: password === undefined ? `the password is in ${path}` : 'the password is ADMIN_PASSWORD',
  };
}

async function ensureBinding(options: AdministratorOptions): Promise<readonly string[]> {
  const binding: JsonObject = {
    roleRef: { apiGroup: '', kind: 'Role', name: superRole },
    subjects: [{ apiGroup: '', kind: 'User', name: administrator }],
  };
  const outcome = await write(options, options.roleBindings, {
    type: 'create',
    object: { ...identityOf(options.roleBindings, bindingName), ...binding },
  });
  if (!outcome.ok && outcome.rejection.reason === 'already-exists')
    settled(await write(options, options.roleBindings, mergeOf(bindingName, binding)));
  else settled(outcome);
  return isHeld(options.permissions)
    ? []
    : [
        `the user "${administrator}" is not a super administrator yet, because the user or the role binding ` +
          `"${bindingName}" is being deleted; restart the server when the deletion is complete`,
      ];
}

function identityOf({ apiVersion, kind }: ResourceType, name: string): JsonObject {
  return { apiVersion, kind, metadata: { name } };
}

function mergeOf(name: string, document: JsonObject): Command {
  return {
    type: 'patch',
    name,
    part: 'main',
    preconditions: {},
    patch: { kind: 'merge', document },
  };
}

async function write(
  { execute, uuid }: AdministratorOptions,
  type: ResourceType,
  command: Command,
): Promise<WriteOutcome> {
  return execute(
    type,
    command,
    platformContext(platform, { verb: command.type === 'create' ? 'create' : 'patch', requestId: uuid() }),
  );
}

function settled(outcome: WriteOutcome): void {
  if (!outcome.ok) throw new Error(`cannot create the super administrator: ${outcome.rejection.detail}`);
}

/** Writes the file atomically. Other users of the machine can never read the file. */
async function writePassword(path: string, password: string): Promise<void> {
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(`${password}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
