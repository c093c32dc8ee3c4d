import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endsAsCommitted } from './lmdb-committed.ts';

const tablesFormat = 6;
const mark = 'use.json';
export const tablesFile = 'tables.mdb';

type Process = {
  readonly pid: number;
  /** The start time of the process in kernel ticks since boot. The operating system reuses process ids. */
  readonly started: string;
};

type Use = {
  readonly format: number;
  /** Whether the process has closed the tables. */
  readonly clean: boolean;
  readonly boot: string;
  /** `fileId` of the tables' file. */
  readonly file: string;
  /** `fileId` of this mark file when it was written. A copy of the mark file has another id. */
  readonly self: string;
  readonly process: Process;
};

/**
 * Whether the tables in `dir` are valid. Tables are written without flushing. So after an unclean end, the file must be
 * the original, the machine must not have rebooted, and no other process may write the file.
 */
export function isTrustworthy(dir: string): boolean {
  const use = readUse(dir);
  if (use?.format !== tablesFormat) return false;
  if (use.clean === true) return true;
  const tables = join(dir, tablesFile);
  const isSameFile = use.boot === bootId() && use.file === fileId(tables) && use.self === fileId(join(dir, mark));
  return isSameFile && !isElsewhere(use.process) && endsAsCommitted(tables);
}

/** Marks the folder as in use by this process, or as closed (`clean`). */
export function markUse(dir: string, { clean }: { readonly clean: boolean }): void {
  // Renames a complete new file over the old mark, so that a full disk leaves the old mark intact.
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

/** Deletes all files in `dir`. The tables are then rebuilt from the log. */
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
 * The id of the machine's current boot; undefined on systems other than Linux, where each unclean end causes a rebuild.
 */
function bootId(): string | undefined {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim();
}

/**
 * An id of a file; undefined if the file does not exist. A copy of a file has another id. The birth time is included
 * because inode numbers are reused.
 */
function fileId(path: string): string | undefined {
  const { ino, birthtimeNs } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
  return ino === undefined ? undefined : `${String(ino)} ${String(birthtimeNs)}`;
}

/** Whether another process uses the tables, or the mark names no process. */
function isElsewhere(other: Partial<Process> | undefined): boolean {
  const { pid, started } = other ?? {};
  if (typeof pid !== 'number' || typeof started !== 'string') return true;
  return pid !== process.pid && startOf(pid) === started;
}

/** The start time of a process in kernel ticks since boot; undefined if the process does not run or is a zombie. */
function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${String(pid)}/stat`);
  // The program's name (the second field) is in parentheses, and may itself contain spaces and parentheses.
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
