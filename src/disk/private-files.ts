import { chmodSync, existsSync, lstatSync, readdirSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';

import { StartError } from '../base/start-error.ts';

/** The entries of DATA_DIR that only their owner may access. */
const kept = [
  'keys',
  'log',
  'read-models',
  'audit-models',
  'packages',
  'plugin-loads',
  'admin-password',
  'tls',
  'lock.sock',
];

/**
 * Removes other users' access to the server's files in DATA_DIR, which contain password hashes. DATA_DIR itself is
 * restricted only if this user owns the folder, because a mount point may belong to another user.
 */
export function tightenDataDir(dir: string): void {
  if (!existsSync(dir)) return;
  const own = statSync(dir);
  if (own.uid === process.getuid?.()) tighten(dir, own);
  for (const name of kept) {
    const path = join(dir, name);
    if (existsSync(path)) tightenAll(path, statSync(path));
  }
}

function tightenAll(path: string, stats: Stats): void {
  // The target of a link may not belong to the server.
  if (stats.isSymbolicLink()) return;
  tighten(path, stats);
  if (!stats.isDirectory()) return;
  for (const name of readdirSync(path)) {
    const inner = join(path, name);
    tightenAll(inner, lstatSync(inner));
  }
}

function tighten(path: string, stats: Stats): void {
  const allowed = stats.isDirectory() ? 0o700 : 0o600;
  const mode = stats.mode & 0o7777;
  if ((mode & ~allowed) === 0) return;
  try {
    chmodSync(path, mode & allowed);
  } catch (cause) {
    const detail = `${path} has the mode ${mode.toString(8)} instead of ${allowed.toString(8)}, and changing it failed`;
    const message = `${detail} (${String(cause)}): make the user that runs the server the owner of DATA_DIR`;
    throw new StartError(message, { exitCode: 2, cause });
  }
}
