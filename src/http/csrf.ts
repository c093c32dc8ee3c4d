import type { IncomingMessage } from 'node:http';

import type { Subject } from '../command/subject.ts';
import { isCsrfToken, sessionCookiesOf } from '../auth/authentication/session-cookie.ts';
import { refusal, type Answer } from './answer.ts';
import { headerOf } from './exchange.ts';
import { problem } from './problem.ts';

export type CsrfRequest = {
  readonly method: string;
  readonly subject: Subject;
  readonly isWatch: boolean;
};

/**
 * Refuses writes and watches that pages of other sites cause (CSRF protection). Browsers mark such requests with
 * headers. Some browsers omit these headers, so a write with a session cookie also requires a token, unless
 * `Sec-Fetch-Site` is `same-origin`.
 */
export function refuseForeignPage(req: IncomingMessage, { method, subject, isWatch }: CsrfRequest): Answer | undefined {
  const writes = method !== 'GET' && method !== 'HEAD';
  if (!writes && !isWatch) return undefined;
  const site = headerOf(req, 'sec-fetch-site');
  if (site === undefined ? isOfAnotherHost(req) : site !== 'same-origin' && site !== 'none') {
    return refusal(problem('forbidden', 'cross-origin writes and watches are not allowed'));
  }
  if (
    !writes ||
    subject.kind !== 'user' ||
    subject.credential.kind !== 'session' ||
    site === 'same-origin' ||
    showsCsrfToken(req)
  )
    return undefined;
  return refusal(
    problem(
      'forbidden',
      'a write with a session cookie requires the header X-CSRF-Token with the token from the log-in response',
    ),
  );
}

/**
 * Returns whether the Origin header names another host, for browsers without `Sec-Fetch-Site`. The origin `null` is
 * another host.
 */
function isOfAnotherHost(req: IncomingMessage): boolean {
  const origin = headerOf(req, 'origin');
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  const { protocol, host } = new URL(origin);
  // Ignores the scheme, because a proxy may have terminated TLS. Ignores an explicit default port.
  const own = `${protocol}//${req.headers.host ?? ''}`;
  return (protocol !== 'http:' && protocol !== 'https:') || !URL.canParse(own) || new URL(own).host !== host;
}

function showsCsrfToken(req: IncomingMessage): boolean {
  const given = headerOf(req, 'x-csrf-token');
  const [session] = sessionCookiesOf(req.headers.cookie);
  return given !== undefined && session !== undefined && isCsrfToken(given, session);
}
