import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A file system of its own in memory, which a test may fill up. */
export type SmallDisk = {
  readonly dir: string;
  freeBytes(): number;
  /** Writes a file until so many bytes are left, or until ENOSPC for 0. It replaces the one before. */
  fill(leftBytes: number): void;
  /** Removes that file. */
  clear(): void;
};

/** Why this machine has none: mounting wants root. */
export const noSmallDisk: string | undefined = whyNot();

export function smallDisk(t: Test, bytes: number): SmallDisk {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(bytes)}`, 'tmpfs', dir]);
  t.teardown(() => {
    execFileSync('umount', ['--lazy', dir]);
    rmSync(dir, { recursive: true, force: true });
  });
  const filler = join(dir, 'filler');
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  };
  const clear = (): void => {
    rmSync(filler, { force: true });
  };
  const fill = (leftBytes: number): void => {
    clear();
    const file = openSync(filler, 'w');
    try {
      while (leftBytes === 0 || freeBytes() > leftBytes) writeSync(file, page);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    } finally {
      closeSync(file);
    }
  };
  return { dir, freeBytes, fill, clear };
}

const page = Buffer.alloc(4_096, 1);

function whyNot(): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir], { stdio: 'pipe' });
    execFileSync('umount', [dir]);
    return undefined;
  } catch (error) {
    return `no file system can be mounted here: ${String(error).split('\n').slice(0, 2).join(' ')}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
