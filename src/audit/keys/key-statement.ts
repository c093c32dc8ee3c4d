import { exactBase64, parseNote, verifierKey, verifyNote, type VerifierKey } from '../proof/signed-note.ts';

/** The name that all keys of a platform have when they vouch for keys. */
export function keysName(domain: string): string {
  return `${domain}/keys`;
}

/** The text of a note that vouches for a key. Its second line is no number, so it is no checkpoint. */
export function keyStatement(domain: string, key: string): string {
  return `${keysName(domain)}\ned25519:${key}\n`;
}

/** Whether the note vouches for `key`, and `by` has signed it. Both are raw keys in base64. */
export function isVouched(domain: string, { key, by, note }: Voucher): boolean {
  const parsed = parseNote(note);
  if (parsed?.text !== keyStatement(domain, key)) return false;
  const verifier = verifierKeyOfRaw(keysName(domain), by);
  return verifier !== undefined && verifyNote(parsed, [verifier]) === 'signed';
}

export type Voucher = { readonly key: string; readonly by: string; readonly note: string };

/** Undefined if it is not 32 bytes in base64. */
export function verifierKeyOfRaw(name: string, key: string): VerifierKey | undefined {
  const bytes = exactBase64(key);
  return bytes?.length === 32 ? verifierKey(name, bytes) : undefined;
}

export function rawKeyOf({ key }: VerifierKey): string {
  const { x } = key.export({ format: 'jwk' });
  return Buffer.from(x ?? '', 'base64url').toString('base64');
}
