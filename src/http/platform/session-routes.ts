import { isObject } from '../../base/guards.ts';
import { invalidPassword, type NotAuthenticated } from '../../auth/authentication/authenticated.ts';
import type { Authenticator } from '../../auth/authentication/authenticator.ts';
import { passwordSubject } from '../../auth/authentication/credential-validity.ts';
import { clearedCookie, csrfTokenOf, sessionCookiesOf } from '../../auth/authentication/session-cookie.ts';
import type { WriteOutcome } from '../../command/command.ts';
import { passwordLengthMax } from '../../limits/access.ts';
import { nameLengthMax } from '../../limits/objects.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { jsonAnswer, refusal, takenOver, type Answer } from '../answer.ts';
import { fromOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { logInChallenge, problem, problemOf, type Problem } from '../problem.ts';
import { decodeBody, mediaTypeOf, readBody } from '../body/read-body.ts';
import type { RefusalLog } from '../refusal-log.ts';
import { recordSession, sessionContext, startSession, type SessionStartDependencies } from './session-start.ts';

export type SessionRoutesDependencies = SessionStartDependencies & {
  readonly authenticator: Pick<Authenticator, 'verifyPassword' | 'isValid'>;
  readonly permissions: Pick<PermissionReader, 'session' | 'sessionsOf'>;
  readonly refusals: Pick<RefusalLog, 'logInFailed'>;
};

/** Creates the routes for log-in and log-out with a cookie. */
export function sessionRoutes(dependencies: SessionRoutesDependencies): readonly PlatformRoute[] {
  return [
    { method: 'POST', path: '/login', route: async (_params, exchange) => logIn(exchange, dependencies) },
    { method: 'GET', path: '/session', route: (_params, exchange) => showSession(exchange, dependencies) },
    { method: 'POST', path: '/logout', route: async (_params, exchange) => logOut(exchange, dependencies) },
  ];
}

async function logIn(exchange: Exchange, dependencies: SessionRoutesDependencies): Promise<Answer> {
  const credentials = await readCredentials(exchange);
  if (!credentials.ok) return credentials.answer;
  const { username, password } = credentials;
  const verified = await dependencies.authenticator.verifyPassword(username, password, fromOf(exchange));
  if (!verified.ok) {
    const {
      requestId,
      sender: { address },
    } = exchange;
    if (verified.reason !== 'unavailable')
      dependencies.refusals.logInFailed({ requestId, address, reason: verified.detail, username });
    return refusal(notLoggedIn(verified));
  }
  // The user may have changed while the hash was computed.
  if (!dependencies.authenticator.isValid(passwordSubject(verified.user))) return refusal(notLoggedIn(invalidPassword));
  const { name, uid: userUid, passwordRevision, timesDisabled } = verified.user;
  const started = await startSession(
    exchange,
    {
      subject: passwordSubject(verified.user),
      status: {
        userUid,
        ...(passwordRevision === undefined ? {} : { passwordRevision }),
        ...(timesDisabled === undefined ? {} : { timesDisabled }),
      },
    },
    dependencies,
  );
  if (!started.ok) return refusal(problemOf(started.rejection));
  return jsonAnswer({ username: name, csrfToken: csrfTokenOf(started.text) }, 200, ['Set-Cookie', started.cookie]);
}

/**
 * Returns the user and the CSRF token of the request's session. A page needs the token after a reload, and after a
 * log-in at the identity provider. Another site cannot read this response.
 */
function showSession(exchange: Exchange, { permissions }: SessionRoutesDependencies): Answer {
  const { subject, req } = exchange;
  const [text] = sessionCookiesOf(req.headers.cookie);
  if (subject.kind !== 'user' || subject.credential.kind !== 'session' || text === undefined) return noSession;
  const session = permissions.session(subject.credential.uid);
  if (session === undefined) return noSession;
  const expiresAt = new Date(session.expiresAt).toISOString();
  return jsonAnswer({ username: subject.name, csrfToken: csrfTokenOf(text), expiresAt });
}

const noSession = refusal(problem('bad-request', 'the request is not authenticated by a session cookie'));

/** Converts a failed log-in to a problem. Browsers show no dialog for the challenge of this problem. */
export function notLoggedIn(refused: NotAuthenticated): Problem {
  if (refused.reason === 'unauthorized')
    return problem('unauthorized', refused.detail, { headers: ['WWW-Authenticate', logInChallenge] });
  return problem(refused.reason, refused.detail, { retryAfterSeconds: refused.retryAfterSeconds });
}

/** Ends the session of the request. The response is the same if the session has already ended. */
async function logOut(exchange: Exchange, dependencies: SessionRoutesDependencies): Promise<Answer> {
  const { permissions, execute, sessions } = dependencies;
  const {
    subject,
    sender: { isSecure },
  } = exchange;
  if (subject.kind !== 'user' || subject.credential.kind !== 'session') return noSession;
  const { uid } = subject.credential;
  const session = permissions.session(uid);
  if (session !== undefined) {
    const outcome = await execute(
      sessions,
      { type: 'delete', name: session.name, preconditions: { uid } },
      sessionContext(exchange, 'delete', subject),
    );
    if (!outcome.ok && !isGone(outcome)) return refusal(problemOf(outcome.rejection));
    if (outcome.ok) recordSession(exchange, { kind: 'logout', user: subject.name }, dependencies);
  }
  return {
    kind: 'empty',
    status: 204,
    headers: ['Set-Cookie', clearedCookie({ isSecure })],
  };
}

function isGone(outcome: WriteOutcome & { readonly ok: false }): boolean {
  return outcome.rejection.reason === 'not-found' || outcome.rejection.reason === 'stale-version';
}

type Credentials =
  | { readonly ok: true; readonly username: string; readonly password: string }
  | { readonly ok: false; readonly answer: Answer };

const form = 'application/x-www-form-urlencoded';

async function readCredentials(exchange: Exchange): Promise<Credentials> {
  const media = mediaTypeOf(exchange.req, ['application/json', form]);
  if (!media.ok) return { ok: false, answer: refusal(media.problem) };
  const body = await readBody(exchange);
  if (!body.ok) return { ok: false, answer: body.problem === undefined ? takenOver : refusal(body.problem) };
  const decoded =
    media.type === form ? { ok: true as const, value: formMembers(body.value) } : decodeBody(body.value, exchange);
  if (!decoded.ok) return { ok: false, answer: decoded.problem === undefined ? takenOver : refusal(decoded.problem) };
  const { value } = decoded;
  if (isObject(value) && typeof value['username'] === 'string' && typeof value['password'] === 'string')
    return bounded(value['username'], value['password']);
  return {
    ok: false,
    answer: refusal(problem('bad-request', 'a log-in must have exactly one username and one password, as strings')),
  };
}

/**
 * Refuses credentials that are too long to be valid, because credentials occupy memory while they wait for hashing. A
 * character has at most two UTF-16 code units.
 */
function bounded(username: string, password: string): Credentials {
  if (username.length <= nameLengthMax && password.length <= passwordLengthMax * 2)
    return { ok: true, username, password };
  const detail =
    `a username must have at most ${String(nameLengthMax)} characters, and a password at most ` +
    String(passwordLengthMax);
  return { ok: false, answer: refusal(problem('bad-request', detail)) };
}

/** Returns the members of a form. A repeated member counts as missing, because the intended value is unknown. */
function formMembers(body: Uint8Array): Readonly<Record<string, unknown>> {
  const members = new URLSearchParams(Buffer.from(body).toString('utf8'));
  const once = (name: string): string | undefined => {
    const [value, ...more] = members.getAll(name);
    return more.length === 0 ? value : undefined;
  };
  return { username: once('username'), password: once('password') };
}
