import type { IncomingMessage } from 'node:http';

import type { Authenticated } from '../auth/authentication/authenticated.ts';
import type { Authorize } from '../auth/authorization/authorize.ts';
import { visitor, type Subject } from '../command/subject.ts';
import type { RequestInfo } from '../resource/query/request-path.ts';
import { refusal, type Answer } from './answer.ts';
import { headerOf } from './exchange.ts';
import { basicChallenge, logInChallenge, problem } from './problem.ts';

export type WellFormedRequest = Exclude<RequestInfo, { kind: 'malformed' }>;

/** Whether the request is a log-in, with a password or at the identity provider. */
export function isLogIn({ kind, verb, path }: WellFormedRequest): boolean {
  if (kind !== 'non-resource') return false;
  return verb === 'create' ? path === '/login' : verb === 'get' && path.startsWith('/login/');
}

const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version']);

/**
 * Returns the subject of a request; undefined if the request is refused. While credentials cannot be checked, a GET of
 * a probe's path is served as a visitor's request.
 */
export function subjectOf(authenticated: Authenticated, { verb, path }: WellFormedRequest): Subject | undefined {
  if (authenticated.ok) return authenticated.subject;
  return authenticated.reason === 'unavailable' && verb === 'get' && probes.has(path) ? visitor : undefined;
}

export function unauthenticated(refused: Authenticated, req: IncomingMessage): Answer {
  if (refused.ok) throw new Error('invariant violated: an authenticated request was refused');
  if (refused.reason === 'unauthorized')
    return unauthorized(refused.detail, req.headers.authorization === undefined ? logInChallenge : basicChallenge);
  return refusal(problem(refused.reason, refused.detail, { retryAfterSeconds: refused.retryAfterSeconds }));
}

function unauthorized(detail: string, challenge = basicChallenge): Answer {
  return refusal(problem('unauthorized', detail, { headers: ['WWW-Authenticate', challenge] }));
}

/**
 * The paths of the documents that kubectl reads before its actual request. Their content does not depend on the caller.
 */
const sameForAll = /^\/(?:apis?|openapi\/v2|openapi\/v3(?:\/.*)?)$/u;

/**
 * Returns whether the request impersonates another user, which this server does not support. A GET of a path in
 * `sameForAll` is exempt, because kubectl would print its refusal without the reason.
 */
function isImpersonation(req: IncomingMessage, { verb, path }: WellFormedRequest): boolean {
  return headerOf(req, 'impersonate-user') !== undefined && !(verb === 'get' && sameForAll.test(path));
}

/**
 * Returns the refusal of a request that is not allowed, impersonates a user, or cannot be authorized yet. Returns
 * undefined for an allowed request.
 */
export function refuseAccess(
  req: IncomingMessage,
  subject: Subject,
  authorize: Authorize,
  info: WellFormedRequest,
): Answer | undefined {
  if (isImpersonation(req, info)) return refusal(problem('forbidden', 'impersonation is not supported'));
  const access = authorize(subject, info);
  if (access.allowed) return undefined;
  if (access.isUndecided === true) return refusal(problem('unavailable', access.reason, { retryAfterSeconds: 1 }));
  return subject.kind === 'visitor' ? unauthorized(access.reason) : refusal(problem('forbidden', access.reason));
}
