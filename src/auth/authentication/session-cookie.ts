import { hash, timingSafeEqual } from 'node:crypto';

import { sessionLifetimeMs } from '../../limits/access.ts';

/** The session cookie and its CSRF token (decision 7.4). */
export const sessionCookie = 'ledgerplane_session';

const none: readonly string[] = [];

/** All values of the session cookie in a Cookie header. More than one may be an attempt to plant a foreign session. */
export function sessionCookiesOf(header: string | undefined): readonly string[] {
  if (header === undefined || !header.includes(sessionCookie)) return none;
  return header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    return equals !== -1 && pair.slice(0, equals).trim() === sessionCookie ? [pair.slice(equals + 1).trim()] : [];
  });
}

/** A `Set-Cookie` value. Its Max-Age is the session's lifetime, which the server enforces in any case. */
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
 * The CSRF token of a session: a page sends it with every write, and another site cannot know it. It is derived from
 * the cookie's text, so it is not stored.
 */
export function csrfTokenOf(text: string): string {
  return hash('sha256', `ledgerplane csrf token of ${text}`, 'base64url');
}

export function isCsrfToken(given: string, text: string): boolean {
  const [shown, expected] = [Buffer.from(given), Buffer.from(csrfTokenOf(text))];
  return shown.length === expected.length && timingSafeEqual(shown, expected);
}
