import { hash, randomBytes } from 'node:crypto';

/** Which of the two a text is: a personal access token or a session's cookie. One never stands for the other. */
export type TokenPrefix = 'pat' | 'ses';

const form = /^(pat|ses)_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/u;

/** `<prefix>_<uid in hex>_<32 random bytes>`: the uid says whose it is, so that it is found without a search. */
export function drawToken(prefix: TokenPrefix, uid: string): string {
  return `${prefix}_${uid.replaceAll('-', '')}_${randomBytes(32).toString('base64url')}`;
}

/** The uid of the object it belongs to; undefined for what is no such text. */
export function uidOfToken(text: string, prefix: TokenPrefix): string | undefined {
  const [, found, ...uid] = form.exec(text) ?? [];
  return found === prefix ? uid.join('-') : undefined;
}

/** What is stored of it: whoever reads the log cannot make the text from this. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}
