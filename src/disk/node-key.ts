import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../base/error-message.ts';
import { StartError } from '../base/start-error.ts';
import { writeDurably } from './durable-file.ts';

const file = 'node.key';

/**
 * Returns the 32 bytes of this node's private Ed25519 key in `<dir>/node.key` (PKCS #8, PEM). Creates a missing file
 * with a new key.
 *
 * @throws StartError if the file is damaged.
 */
export async function nodeKey(dir: string): Promise<Uint8Array> {
  const path = join(dir, file);
  if (!existsSync(path)) {
    const { privateKey } = generateKeyPairSync('ed25519');
    await writeDurably(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  }
  try {
    const { crv, d } = createPrivateKey(readFileSync(path)).export({ format: 'jwk' });
    if (crv === 'Ed25519' && d !== undefined) return Buffer.from(d, 'base64url');
  } catch (error) {
    throw damaged(path, messageOf(error));
  }
  throw damaged(path, 'the file contains no Ed25519 key');
}

function damaged(path: string, why: string): StartError {
  const remedy =
    'restore the file from a backup of DATA_DIR/keys, or remove it: this node then makes a new key, which auditors ' +
    'must add to their trusted keys';
  return new StartError(`${path} cannot be used: ${why}; ${remedy}`, { exitCode: 2 });
}
