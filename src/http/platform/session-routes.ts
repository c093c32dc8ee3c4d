import { isObject } from '../../base/guards.ts';
import { invalidPassword, type NotAuthenticated } from '../../auth/authentication/authenticated.ts';
import type { AccessRecorder } from '../../auth/access-events/access-recorder.ts';
import type { Authenticator } from '../../auth/authentication/authenticator.ts';
import type { PermissionReader, UserRecord } from '../../read/permission-reader.ts';
import { clearedCookie, cookieOf, csrfTokenOf } from '../../auth/authentication/session-cookie.ts';
import { passwordSubject } from '../../auth/authentication/credential-validity.ts';
import type { Clock } from '../../base/clock.ts';
import type { Command, WriteContext, WriteOutcome } from '../../command/command.ts';
import { platformContext } from '../../command/platform-context.ts';
import type { PlatformSubject, Subject } from '../../command/subject.ts';
import type { Execute } from '../../write/execute.ts';
import { passwordLengthMax, sessionLifetimeMs, sessionsPerUserMax } from '../../limits/access.ts';
import { nameLengthMax } from '../../limits/objects.ts';
import { userAgentLengthMax } from '../../limits/requests.ts';
import type { ObjectReader } from '../../read/objects.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { storedObject } from '../../resource/object/shown-object.ts';
import { jsonAnswer, refusal, takenOver, type Answer } from '../answer.ts';
import { fromOf, headerOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { logInChallenge, problem, problemOf } from '../problem.ts';
import { decodeBody, mediaTypeOf, readBody } from '../body/read-body.ts';
import type { RefusalLog } from '../refusal-log.ts';

export type SessionRoutesDependencies = {
  readonly authenticator: Pick<Authenticator, 'verifyPassword' | 'isValid'>;
  readonly permissions: Pick<PermissionReader, 'session' | 'sessionsOf'>;
  readonly reader: Pick<ObjectReader, 'get'>;
  readonly execute: Execute;
  readonly sessions: ResourceType;
  readonly clock: Clock;
  readonly refusals: Pick<RefusalLog, 'logInFailed'>;
  readonly accesses: AccessRecorder;
};

const platform: PlatformSubject = { kind: 'platform', part: 'login' };

/** Creates the routes for log-in and log-out with a cookie. */
export function sessionRoutes(dependencies: SessionRoutesDependencies): readonly PlatformRoute[] {
  return [
    { method: 'POST', path: '/login', route: async (_params, exchange) => logIn(exchange, dependencies) },
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
    return notLoggedIn(verified);
  }
  // The user may have changed while the hash was computed.
  if (!dependencies.authenticator.isValid(passwordSubject(verified.user))) return notLoggedIn(invalidPassword);
  const outcome = await dependencies.execute(
    dependencies.sessions,
    creation(verified.user, exchange, dependencies),
    contextOf(exchange, 'create', passwordSubject(verified.user)),
  );
  if (!outcome.ok) return refusal(problemOf(outcome.rejection));
  await endOldest(verified.user.name, exchange, dependencies);
  recordAccess(dependencies, 'login', { exchange, user: verified.user.name });
  const text = tokenOf(outcome);
  const cookie = cookieOf(text, { isSecure: exchange.sender.isSecure });
  return jsonAnswer({ username: verified.user.name, csrfToken: csrfTokenOf(text) }, 200, ['Set-Cookie', cookie]);
}

/**
 * Ends the sessions of the user above the limit, those with the oldest recorded use. Concurrent log-ins choose the same
 * sessions, and thus do not end too many. With several nodes, a few sessions above the limit may remain.
 */
async function endOldest(user: string, exchange: Exchange, dependencies: SessionRoutesDependencies): Promise<void> {
  const { permissions, reader, sessions, execute } = dependencies;
  const names = permissions.sessionsOf(user);
  if (names.length <= sessionsPerUserMax) return;
  // The log-in and each recorded use write the session, so the oldest recorded uses have the lowest positions.
  const begun = names.flatMap((name) => {
    const stored = reader.get(sessions.key, name);
    return stored === undefined ? [] : [{ name, stored }];
  });
  begun.sort((one, other) => Number(one.stored.position - other.stored.position));
  const context: WriteContext = { ...contextOf(exchange, 'delete', platform), admitted: 'whole' };
  for (const { name, stored } of begun.slice(0, Math.max(0, begun.length - sessionsPerUserMax))) {
    const {
      metadata: { uid },
    } = storedObject(stored.bytes);
    await execute(sessions, { type: 'delete', name, preconditions: { uid } }, context);
  }
}

function notLoggedIn(refused: NotAuthenticated): Answer {
  if (refused.reason === 'unauthorized')
    return refusal(problem('unauthorized', refused.detail, { headers: ['WWW-Authenticate', logInChallenge] }));
  return refusal(problem(refused.reason, refused.detail, { retryAfterSeconds: refused.retryAfterSeconds }));
}

/**
 * Returns the command that creates a session. The session is invalid if the user or the password has changed since the
 * verification.
 */
function creation(
  { name, uid, passwordRevision, timesDisabled }: UserRecord,
  exchange: Exchange,
  { sessions, clock }: SessionRoutesDependencies,
): Command {
  const now = clock.now();
  const status = {
    userUid: uid,
    expiresAt: new Date(now + sessionLifetimeMs).toISOString(),
    lastUsedAt: new Date(now).toISOString(),
    ...originOf(exchange),
    ...(passwordRevision === undefined ? {} : { passwordRevision }),
    ...(timesDisabled === undefined ? {} : { timesDisabled }),
  };
  return {
    type: 'create',
    object: {
      apiVersion: sessions.apiVersion,
      kind: sessions.kind,
      metadata: { generateName: 'session-' },
      spec: { user: name },
      status,
    },
  };
}

/** Ends the session of the request. The response is the same if the session has already ended. */
async function logOut(exchange: Exchange, dependencies: SessionRoutesDependencies): Promise<Answer> {
  const { permissions, execute, sessions } = dependencies;
  const {
    subject,
    sender: { isSecure },
  } = exchange;
  if (subject.kind !== 'user' || subject.credential.kind !== 'session')
    return refusal(problem('bad-request', 'the request is not authenticated by a session cookie'));
  const { uid } = subject.credential;
  const session = permissions.session(uid);
  if (session !== undefined) {
    const outcome = await execute(
      sessions,
      { type: 'delete', name: session.name, preconditions: { uid } },
      contextOf(exchange, 'delete', subject),
    );
    if (!outcome.ok && !isGone(outcome)) return refusal(problemOf(outcome.rejection));
    if (outcome.ok) recordAccess(dependencies, 'logout', { exchange, user: subject.name });
  }
  return {
    kind: 'empty',
    status: 204,
    headers: ['Set-Cookie', clearedCookie({ isSecure })],
  };
}

function recordAccess(
  { accesses }: SessionRoutesDependencies,
  kind: 'login' | 'logout',
  { exchange, user }: { readonly exchange: Exchange; readonly user: string },
): void {
  accesses.record({ kind, requestId: exchange.requestId, address: exchange.sender.address, user });
}

function isGone(outcome: WriteOutcome & { readonly ok: false }): boolean {
  return outcome.rejection.reason === 'not-found' || outcome.rejection.reason === 'stale-version';
}

/**
 * Returns the context for a write of a session. The platform is the subject, but the event records the address and the
 * user agent of the request.
 */
function contextOf(exchange: Exchange, verb: string, chargedTo: Subject): WriteContext {
  const { requestId } = exchange;
  return {
    ...platformContext(platform, { verb, requestId, ...originOf(exchange) }),
    chargedTo,
    isOwn: true,
  };
}

/** Returns the address and the user agent of a request, if they are known. */
function originOf({ req, sender: { address } }: Exchange): { readonly address?: string; readonly userAgent?: string } {
  const userAgent = headerOf(req, 'user-agent')?.slice(0, userAgentLengthMax);
  return { ...(address === '' ? {} : { address }), ...(userAgent === undefined ? {} : { userAgent }) };
}

function tokenOf(outcome: WriteOutcome & { readonly ok: true }): string {
  const status = storedObject(outcome.bytes)['status'];
  if (isObject(status) && typeof status['token'] === 'string') return status['token'];
  throw new Error('invariant violated: a session was created without a token');
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
