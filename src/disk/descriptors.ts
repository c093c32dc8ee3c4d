import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

import { descriptorsFreeMin } from '../limits/disk.ts';
import { descriptorError } from './resource-failure.ts';

/**
 * Opens and closes files to check that the process can open enough files. Without this check, LMDB would crash the
 * process after failing to open a file.
 *
 * @throws ResourceError if the process can open too few files.
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
    `it can open only ${String(opened.length)} more files, but needs at least ${String(descriptorsFreeMin)}`,
    failure,
  );
}
