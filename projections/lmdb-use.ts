import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endsAsCommitted } from './lmdb-committed.ts';

/**
 * Decides whether existing tables are valid. Tables are written without flushing. After an unclean end, they are valid
 * only if four conditions hold: the file is the original and not a copy; the machine has not rebooted since; no other
 * process writes the file; the newest transaction in the file is the last committed one. A copy of a file that is being
 * modified has pages of different moments, and LMDB aborts the process when it reads such a copy. If an older copy was
 * written over the file, the newest transaction is older than the last committed one. After an orderly close, copies of
 * the tables are valid too.
 */

const tablesFormat = 6;
const mark = 'use.json';
export const tablesFile = 'tables.mdb';

type Process = {
  readonly pid: number;
  /**
   * The start time of the process in kernel ticks since boot. It identifies the process, because process ids are
   * reused.
   */
  readonly started: string;
};

type Use = {
  readonly format: number;
  /** Whether the process has closed the tables in an orderly way. */
  readonly clean: boolean;
  readonly boot: string;
  /**
   * `fileId` of the tables' file, and of this mark file when it was written. A copy of the mark file has another id.
   */
  readonly file: string;
  readonly self: string;
  readonly process: Process;
};

export function isTrustworthy(dir: string): boolean {
  const use = readUse(dir);
  if (use?.format !== tablesFormat) return false;
  if (use.clean === true) return true;
  const tables = join(dir, tablesFile);
  const isSameFile = use.boot === bootId() && use.file === fileId(tables) && use.self === fileId(join(dir, mark));
  return isSameFile && !isElsewhere(use.process) && endsAsCommitted(tables);
}

/** Marks the folder as in use by this process, or as closed in an orderly way. */
export function markUse(dir: string, { clean }: { readonly clean: boolean }): void {
  // Writes a new file and renames it, so that the old mark remains if the disk is full. An empty mark would cause a
  // rebuild.
  const next = join(dir, `${mark}.next`);
  rmSync(next, { force: true });
  writeFileSync(next, '', { mode: 0o600 });
  const own: Process = { pid: process.pid, started: startOf(process.pid) ?? '' };
  const [file, self] = [fileId(join(dir, tablesFile)) ?? '', fileId(next) ?? ''];
  const use: Use = {
    format: tablesFormat,
    clean,
    boot: bootId() ?? '',
    file,
    self,
    process: own,
  };
  writeFileSync(next, JSON.stringify(use), { flush: true });
  renameSync(next, join(dir, mark));
}

/** Deletes the tables in `dir`, which are then rebuilt from the log. */
export function discard(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true, mode: 0o700 });
}

function readUse(dir: string): Partial<Use> | undefined {
  const text = textOf(join(dir, mark));
  if (text === undefined) return undefined;
  try {
    const use: unknown = JSON.parse(text);
    return typeof use === 'object' && use !== null ? use : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The id of the machine's current boot; undefined on systems other than Linux. Without this id no mark matches, so the
 * tables are rebuilt after each unclean end.
 */
function bootId(): string | undefined {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim();
}

/**
 * An id of a file; undefined if there is no file. A moved file keeps its id, and a copy has another id. The id includes
 * the birth time, because inode numbers are reused.
 */
function fileId(path: string): string | undefined {
  const { ino, birthtimeNs } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
  return ino === undefined ? undefined : `${String(ino)} ${String(birthtimeNs)}`;
}

/**
 * Whether another process uses the tables, or the mark names no process. The caller has locked the folder, so such a
 * process must have opened the folder by another path.
 */
function isElsewhere(other: Partial<Process> | undefined): boolean {
  const { pid, started } = other ?? {};
  if (typeof pid !== 'number' || typeof started !== 'string') return true;
  return pid !== process.pid && startOf(pid) === started;
}

/** The start time of a process in kernel ticks since boot; undefined if the process does not run or is a zombie. */
function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${String(pid)}/stat`);
  // The second field is the program's name in parentheses and may contain any characters, so the fields after the last
  // parenthesis are read.
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return state === 'Z' || state === 'X' ? undefined : fields[18];
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
