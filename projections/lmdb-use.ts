import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endsAsCommitted } from './lmdb-committed.ts';

/**
 * Decides whether existing tables are valid. Tables are written without flushing. After an unclean end they are valid
 * only in the same file, without a reboot of the machine in between, and while no process writes them. A copy of a file
 * that is being modified has pages of different moments, and LMDB aborts the process when it reads such a copy. An old
 * copy over the file is invalid too: it ends with an earlier transaction than the last committed one. After an orderly
 * close, copies of the tables are valid too.
 */

const tablesFormat = 6;
const mark = 'use.json';
export const tablesFile = 'tables.mdb';

type Process = {
  readonly pid: number;
  /** The start of the process in ticks of the kernel, because process ids are reused. */
  readonly started: string;
};

type Use = {
  readonly format: number;
  /** Whether the process has closed the tables in an orderly way. */
  readonly clean: boolean;
  readonly boot: string;
  /** The ids of the tables' file and of the mark file. A copy of the mark file has another id. */
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
  // Writes a new file and renames it. If the disk is full, the old mark remains: an empty mark would cause a rebuild.
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

/** Deletes the read models, which are then rebuilt from the log. */
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

/** The id of a file, which a move keeps and a copy changes: inode numbers are reused, but birth times are not. */
function fileId(path: string): string | undefined {
  const { ino, birthtimeNs } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
  return ino === undefined ? undefined : `${String(ino)} ${String(birthtimeNs)}`;
}

/**
 * Whether another process uses the tables. The caller has locked the folder, so such a process must have opened the
 * folder by another path.
 */
function isElsewhere(other: Partial<Process> | undefined): boolean {
  const { pid, started } = other ?? {};
  if (typeof pid !== 'number' || typeof started !== 'string') return true;
  return pid !== process.pid && startOf(pid) === started;
}

/** The start time of a process; undefined if the process does not run or is a zombie. */
function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${String(pid)}/stat`);
  // The second field is the program's name in parentheses. The name may contain any characters.
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
