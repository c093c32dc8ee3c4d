import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endsAsCommitted } from './lmdb-committed.ts';

/**
 * Whether tables that are found can be trusted. They are written unflushed, so after an unclean end they are whole only
 * in the very file that was written, as long as the machine has not been started again, and as long as nobody writes them:
 * a copy of a file that is being written holds pages of different moments, and LMDB aborts the process over them. So does
 * one that is written over the file, which then ends with an earlier transaction than was committed last. Closed in order
 * tables are whole wherever they are copied to.
 */

const tablesFormat = 5;
const mark = 'use.json';
export const tablesFile = 'tables.mdb';

type Process = { readonly pid: number; /** In the kernel's ticks since its start: numbers of processes come again. */ readonly started: string };

type Use = {
  readonly format: number;
  /** Closed in order since. */
  readonly clean: boolean;
  readonly boot: string;
  /** The tables' file, and the mark's own: a mark that was written over this one names another. */
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

/** The folder is this process's to write, or is whole. */
export function markUse(dir: string, { clean }: { readonly clean: boolean }): void {
  // A full disk leaves the mark as it was, and not an empty one that has the tables rebuilt.
  const next = join(dir, `${mark}.next`);
  rmSync(next, { force: true });
  writeFileSync(next, '', { mode: 0o600 });
  const own: Process = { pid: process.pid, started: startOf(process.pid) ?? '' };
  const [file, self] = [fileId(join(dir, tablesFile)) ?? '', fileId(next) ?? ''];
  const use: Use = { format: tablesFormat, clean, boot: bootId() ?? '', file, self, process: own };
  writeFileSync(next, JSON.stringify(use), { flush: true });
  renameSync(next, join(dir, mark));
}

/** Throws the read models away: they are rebuilt from the log. */
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

/** Undefined beside Linux, and then equal to no mark's: every unclean end counts as a crash of the machine. */
function bootId(): string | undefined {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim();
}

/** A file that was moved keeps it, and none that was copied has it: numbers of files come again, their births do not. */
function fileId(path: string): string | undefined {
  const { ino, birthtimeNs } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
  return ino === undefined ? undefined : `${String(ino)} ${String(birthtimeNs)}`;
}

/** Whoever asks has locked the folder, so that a process that still writes the tables does so through another name. */
function isElsewhere(other: Partial<Process> | undefined): boolean {
  const { pid, started } = other ?? {};
  if (typeof pid !== 'number' || typeof started !== 'string') return true;
  return pid !== process.pid && startOf(pid) === started;
}

/** Undefined where no such process runs: one that has ended and was not waited for does not. */
function startOf(pid: number): string | undefined {
  const stat = textOf(`/proc/${String(pid)}/stat`);
  // The second field is the program's name in parentheses, with whatever characters.
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
