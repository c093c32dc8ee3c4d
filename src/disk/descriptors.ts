import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

import { descriptorsFreeMin } from '../limits/disk.ts';
import { descriptorError } from './resource-failure.ts';

/**
 * Opens and closes files to find out whether enough can be opened, because neither the limit nor the number in use can
 * be read on every system. LMDB does not survive a failed open.
 *
 * @throws ResourceError if the process may open too few files.
 */
export function refuseFewDescriptors(): void {
  const opened: number[] = [];
  let failure: unknown;
  try {
    while (opened.length < descriptorsFreeMin) opened.push(openSync(devNull, 'r'));
  } catch (error) {
    failure = error;
  }
  for (const file of opened) closeSync(file);
  if (failure === undefined) return;
  throw descriptorError(
    `only ${String(opened.length)} more can be opened, at least ${String(descriptorsFreeMin)} are needed`,
    failure,
  );
}
