import { hash, timingSafeEqual } from 'node:crypto';

import { sessionLifetimeMs } from '../limits/access.ts';

/** The cookie that carries a session's text, and the token that goes with it (decision 7.4). */
export const sessionCookie = 'ledgerplane_session';

const none: readonly string[] = [];

/** Every value a Cookie header gives it: more than one is somebody's attempt to have the wrong one chosen. */
export function sessionCookiesOf(header: string | undefined): readonly string[] {
  if (header === undefined || !header.includes(sessionCookie)) return none;
  return header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    return equals !== -1 && pair.slice(0, equals).trim() === sessionCookie ? [pair.slice(equals + 1).trim()] : [];
  });
}

/** As `Set-Cookie`. It ends with the session itself, which the server decides in any case. */
export function cookieOf(text: string, { isSecure }: { readonly isSecure: boolean }): string {
  return `${sessionCookie}=${text}; Max-Age=${String(sessionLifetimeMs / 1_000)}; ${attributes(isSecure)}`;
}

export function clearedCookie({ isSecure }: { readonly isSecure: boolean }): string {
  return `${sessionCookie}=; Max-Age=0; ${attributes(isSecure)}`;
}

function attributes(isSecure: boolean): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

/** What a page must show with every write, and another site's cannot know. Derived from the cookie's text, so it is kept nowhere. */
export function csrfTokenOf(text: string): string {
  return hash('sha256', `ledgerplane csrf token of ${text}`, 'base64url');
}

export function isCsrfToken(given: string, text: string): boolean {
  const [shown, expected] = [Buffer.from(given), Buffer.from(csrfTokenOf(text))];
  return shown.length === expected.length && timingSafeEqual(shown, expected);
}
