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
 * Refuses writes and watches that pages of other sites cause (CSRF protection). Browsers send credentials with such
 * requests too, but mark the requests with headers. Writes (which include log-ins) and watches must come from this
 * server's own pages or from no page, independent of the authentication. Some browsers do not send these headers, so a
 * write with a session cookie also needs a token, unless `Sec-Fetch-Site` names this server's own pages.
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
 * Whether the Origin header names another host. This check is for browsers without `Sec-Fetch-Site`. Pages without an
 * origin send `null`, which counts as another host.
 */
function isOfAnotherHost(req: IncomingMessage): boolean {
  const origin = headerOf(req, 'origin');
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  const { protocol, host } = new URL(origin);
  // The comparison ignores the scheme, since a proxy may have terminated TLS. It also ignores an explicit default port.
  const own = `${protocol}//${req.headers.host ?? ''}`;
  return (protocol !== 'http:' && protocol !== 'https:') || !URL.canParse(own) || new URL(own).host !== host;
}

function showsCsrfToken(req: IncomingMessage): boolean {
  const given = headerOf(req, 'x-csrf-token');
  const [session] = sessionCookiesOf(req.headers.cookie);
  return given !== undefined && session !== undefined && isCsrfToken(given, session);
}
