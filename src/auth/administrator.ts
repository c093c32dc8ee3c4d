import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Passwords } from './password.ts';
import type { Secrets } from './secrets.ts';

/** The super administrator's name. */
export const administrator = 'admin';

export type AdministratorOptions = {
  readonly secrets: Secrets;
  readonly passwords: Passwords;
  readonly dataDir: string;
  /** `ADMIN_PASSWORD`: counts at the first start only. */
  readonly password: string | undefined;
};

/** What the operator is to read on standard error; none holds a password. */
export type AdministratorReport = { readonly created: boolean; readonly notices: readonly string[] };

/**
 * The first start makes the super administrator (decision 7.7). Of several nodes starting at once one wins, by the log; a
 * crash between the file and the event leaves a file that the next start writes anew.
 */
export async function ensureAdministrator({ secrets, passwords, dataDir, password }: AdministratorOptions): Promise<AdministratorReport> {
  const stored = await secrets.passwordHashOf(administrator);
  if (stored !== undefined) {
    const unchanged = password === undefined || await passwords.verify(password, stored);
    return { created: false, notices: unchanged ? [] : [`ADMIN_PASSWORD counts at the first start only: the password of "${administrator}" is unchanged`] };
  }
  const path = join(dataDir, 'admin-password');
  const chosen = password ?? randomBytes(18).toString('base64url');
  if (password === undefined) await writePassword(path, chosen);
  const outcome = await secrets.setFirstPassword(administrator, await passwords.hash(chosen));
  if (outcome.ok) {
    const where = password === undefined ? `its password is in ${path}` : 'its password is ADMIN_PASSWORD';
    return { created: true, notices: [`made the super administrator "${administrator}": ${where}`] };
  }
  if (password === undefined) await rm(path, { force: true });
  if (outcome.reason === 'conflict') return { created: false, notices: [`another node made the super administrator "${administrator}"`] };
  throw new Error('the super administrator cannot be made: the event log did not take it', { cause: outcome.cause });
}

/** Whole or not at all, and never readable by anybody else, not even for the moment of its making. */
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
