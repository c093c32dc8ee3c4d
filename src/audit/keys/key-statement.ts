import { exactBase64, parseNote, verifierKey, verifyNote, type VerifierKey } from '../proof/signed-note.ts';

/** Returns the name of the signing key in notes that vouch for a key. All nodes of a platform use this name. */
export function keysName(domain: string): string {
  return `${domain}/keys`;
}

/**
 * Returns the text of a note that vouches for a key. The second line is not a number, so the text is not a checkpoint.
 */
export function keyStatement(domain: string, key: string): string {
  return `${keysName(domain)}\ned25519:${key}\n`;
}

/** Returns whether the note vouches for `key` with a valid signature by `by`. Both keys are raw keys in base64. */
export function isVouched(domain: string, { key, by, note }: Voucher): boolean {
  const parsed = parseNote(note);
  if (parsed?.text !== keyStatement(domain, key)) return false;
  const verifier = verifierKeyOfRaw(keysName(domain), by);
  return verifier !== undefined && verifyNote(parsed, [verifier]) === 'signed';
}

export type Voucher = {
  readonly key: string;
  readonly by: string;
  readonly note: string;
};

/** Decodes a raw key; returns undefined for a text other than 32 bytes in base64. */
export function verifierKeyOfRaw(name: string, key: string): VerifierKey | undefined {
  const bytes = exactBase64(key);
  return bytes?.length === 32 ? verifierKey(name, bytes) : undefined;
}

export function rawKeyOf({ key }: VerifierKey): string {
  const { x } = key.export({ format: 'jwk' });
  return Buffer.from(x ?? '', 'base64url').toString('base64');
}
