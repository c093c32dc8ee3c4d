import { hash, timingSafeEqual } from 'node:crypto';

import { sessionLifetimeMs } from '../../limits/access.ts';

/** The name of the session cookie (decision 7.4). */
export const sessionCookie = 'ledgerplane_session';

const none: readonly string[] = [];

/**
 * Returns all values of the session cookie in a Cookie header. Several values may be an attempt to inject another
 * user's session.
 */
export function sessionCookiesOf(header: string | undefined): readonly string[] {
  if (header === undefined || !header.includes(sessionCookie)) return none;
  return header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    if (equals === -1 || pair.slice(0, equals).trim() !== sessionCookie) return [];
    return [pair.slice(equals + 1).trim()];
  });
}

/** Returns a `Set-Cookie` value. Max-Age is the lifetime of the session, which the server also enforces. */
export function cookieOf(text: string, { isSecure }: { readonly isSecure: boolean }): string {
  return `${sessionCookie}=${text}; Max-Age=${String(sessionLifetimeMs / 1_000)}; ${attributes(isSecure)}`;
}

export function clearedCookie({ isSecure }: { readonly isSecure: boolean }): string {
  return `${sessionCookie}=; Max-Age=0; ${attributes(isSecure)}`;
}

function attributes(isSecure: boolean): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

/**
 * Returns the CSRF token of a session. A page sends the token with each write, and another site cannot know the token.
 * The token is derived from the text of the cookie and is not stored.
 */
export function csrfTokenOf(text: string): string {
  return hash('sha256', `ledgerplane csrf token of ${text}`, 'base64url');
}

export function isCsrfToken(given: string, text: string): boolean {
  const [shown, expected] = [Buffer.from(given), Buffer.from(csrfTokenOf(text))];
  return shown.length === expected.length && timingSafeEqual(shown, expected);
}
