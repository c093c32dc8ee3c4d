import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { parseVerifierKey, type VerifierKey } from '../../audit/proof/signed-note.ts';
import { usageError } from '../failure.ts';
import { printable } from '../text-table.ts';

/**
 * Returns the keys of the option `--key`. Each value is a verifier key, or a file with one key on each line. In a file,
 * empty lines and lines that begin with `#` are ignored.
 *
 * @throws CommandFailure if a value is invalid, or no key is given.
 */
export function verifierKeys(given: readonly string[], folder: string): readonly VerifierKey[] {
  const keys = given.flatMap((text) => {
    const key = parseVerifierKey(text);
    return key === undefined ? keysIn(resolve(folder, text), text) : [key];
  });
  if (keys.length > 0) return keys;
  const isGiven = given.length > 0;
  throw usageError(
    isGiven
      ? '--key: the files contain no keys'
      : '--key is required: a verifier key of the server, or a file with such keys',
  );
}

function keysIn(path: string, given: string): readonly VerifierKey[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw usageError(`--key: ${printable(given)} is neither a verifier key nor a readable file`);
  }
  return text.split('\n').flatMap((line, at) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const key = parseVerifierKey(trimmed);
    if (key === undefined)
      throw usageError(`--key: line ${String(at + 1)} of ${printable(given)} is not a verifier key`);
    return [key];
  });
}
