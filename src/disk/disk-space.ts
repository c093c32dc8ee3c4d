import { statfsSync, type StatsFs } from 'node:fs';

/** Of one file system, as an ordinary user may use it. */
export type DiskSpace = { readonly freeBytes: number; readonly totalBytes: number };

export function spaceOf({ bsize, bavail, blocks }: Pick<StatsFs, 'bsize' | 'bavail' | 'blocks'>): DiskSpace {
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** For the start, before anything runs that it could hold up. */
export function diskSpaceNow(dir: string): DiskSpace {
  return spaceOf(statfsSync(dir));
}
