import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A small file system in memory, which a test may fill. */
export type SmallDisk = {
  readonly dir: string;
  freeBytes(): number;
  /** Writes a file until `leftBytes` bytes are free; 0: until ENOSPC. The file replaces the file of an earlier call. */
  fill(leftBytes: number): void;
  /** Removes the file that `fill` has written. */
  clear(): void;
};

/** The reason why this machine cannot make such a disk (only root may mount); undefined if it can. */
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
