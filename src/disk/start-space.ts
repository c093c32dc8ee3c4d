import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

import { showByteCount } from '../base/byte-count.ts';
import { diskStartBytesMin } from '../limits/disk.ts';
import { diskSpaceNow } from './disk-space.ts';
import { ResourceError } from './resource-failure.ts';

/** @throws ResourceError if the disk of `dir` has too little free space. The folder may be missing. */
export function refuseFullDisk(dir: string): void {
  const { freeBytes } = diskSpaceNow(existing(dir));
  if (freeBytes >= diskStartBytesMin) return;
  const words =
    `the disk of ${dir} is full: ${showByteCount(freeBytes)} are free, ` +
    `${showByteCount(diskStartBytesMin)} are needed`;
  throw new ResourceError(`${words}; free space on this disk or enlarge it, then start again`);
}

function existing(dir: string): string {
  return existsSync(dir) || dirname(dir) === dir ? dir : existing(dirname(dir));
}
