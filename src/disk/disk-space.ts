import { statfsSync, type StatsFs } from 'node:fs';

/** The free space of a file system for ordinary users, and its total size. */
export type DiskSpace = {
  readonly freeBytes: number;
  readonly totalBytes: number;
};

export function spaceOf({ bsize, bavail, blocks }: Pick<StatsFs, 'bsize' | 'bavail' | 'blocks'>): DiskSpace {
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Reads the free space synchronously, for the start of the server and for commands. */
export function diskSpaceNow(dir: string): DiskSpace {
  return spaceOf(statfsSync(dir));
}
