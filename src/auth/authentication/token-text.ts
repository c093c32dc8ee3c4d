import { hash, randomBytes } from 'node:crypto';

/** The prefix of a text: `pat` for a personal access token, `ses` for a session cookie. */
export type TokenPrefix = 'pat' | 'ses';

const form = /^(pat|ses)_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/u;

/**
 * Returns `<prefix>_<uid in hex>_<32 random bytes in base64url>`. The uid identifies the object, so a verification
 * needs no search.
 */
export function drawToken(prefix: TokenPrefix, uid: string): string {
  return `${prefix}_${uid.replaceAll('-', '')}_${randomBytes(32).toString('base64url')}`;
}

/** Returns the uid of the token's object; undefined for a malformed text. */
export function uidOfToken(text: string, prefix: TokenPrefix): string | undefined {
  const [, found, ...uid] = form.exec(text) ?? [];
  return found === prefix ? uid.join('-') : undefined;
}

/** Returns the digest that is stored for a token text. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}
