import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { parseVerifierKey, type VerifierKey } from '../../audit/proof/signed-note.ts';
import { usageError } from '../failure.ts';
import { printable } from '../text-table.ts';

/**
 * Returns the keys that `--key` names. Each value is a verifier key or a file with one key in each line; `#` begins a
 * comment.
 */
export function verifierKeys(given: readonly string[], folder: string): readonly VerifierKey[] {
  const keys = given.flatMap((text) => {
    const key = parseVerifierKey(text);
    return key === undefined ? keysIn(resolve(folder, text), text) : [key];
  });
  if (keys.length === 0) throw usageError('--key is needed: the verifier key of the server, or a file with its keys');
  return keys;
}

function keysIn(path: string, given: string): readonly VerifierKey[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw usageError(`--key: ${printable(given)} is neither a verifier key nor a file that can be read`);
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
