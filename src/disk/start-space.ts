import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

import { showByteCount } from '../base/byte-count.ts';
import { diskStartBytesMin } from '../limits/disk.ts';
import { diskSpaceNow } from './disk-space.ts';
import { ResourceError } from './resource-failure.ts';

/** @throws ResourceError if the free space is too small for a store in `dir`. The folder may be missing. */
export function refuseFullDisk(dir: string): void {
  const { freeBytes } = diskSpaceNow(existing(dir));
  if (freeBytes >= diskStartBytesMin) return;
  const words =
    `the disk of ${dir} is full: ${showByteCount(freeBytes)} are free, ` +
    `${showByteCount(diskStartBytesMin)} are needed`;
  throw new ResourceError(`${words}; free space on that disk or enlarge it, and start again`);
}

function existing(dir: string): string {
  return existsSync(dir) || dirname(dir) === dir ? dir : existing(dirname(dir));
}
