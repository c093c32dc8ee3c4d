import { isObject } from '../../base/guards.ts';
import type { AccessRecorder } from '../../auth/access-events/access-recorder.ts';
import { cookieOf } from '../../auth/authentication/session-cookie.ts';
import type { Clock } from '../../base/clock.ts';
import type { WriteContext, WriteOutcome } from '../../command/command.ts';
import { platformContext } from '../../command/platform-context.ts';
import type { Rejection } from '../../command/rejection.ts';
import type { PlatformSubject, Subject, UserSubject } from '../../command/subject.ts';
import { sessionLifetimeMs, sessionsPerUserMax } from '../../limits/access.ts';
import { userAgentLengthMax } from '../../limits/requests.ts';
import type { ObjectReader } from '../../read/objects.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { storedObject } from '../../resource/object/shown-object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { Execute } from '../../write/execute.ts';
import { headerOf, type Exchange } from '../exchange.ts';

export type SessionStartDependencies = {
  readonly permissions: Pick<PermissionReader, 'sessionsOf'>;
  readonly reader: Pick<ObjectReader, 'get'>;
  readonly execute: Execute;
  /** The type Session. */
  readonly sessions: ResourceType;
  readonly clock: Clock;
  readonly accesses: AccessRecorder;
};

/** An authenticated user. `status`: the facts on which the validity of the session depends. */
export type LoggedIn = {
  readonly subject: UserSubject;
  readonly status: Readonly<Record<string, string | number>>;
};

export type StartedSession =
  /** `text` is the secret of the session, and `cookie` is the `Set-Cookie` value with it. */
  | { readonly ok: true; readonly text: string; readonly cookie: string }
  | { readonly ok: false; readonly rejection: Rejection };

const platform: PlatformSubject = { kind: 'platform', part: 'login' };

/**
 * Creates a session for a user that has just been authenticated, and records the log-in. If the facts in the status
 * have changed since the authentication, the session is invalid.
 */
export async function startSession(
  exchange: Exchange,
  { subject, status }: LoggedIn,
  dependencies: SessionStartDependencies,
): Promise<StartedSession> {
  const { sessions, clock, execute } = dependencies;
  const now = clock.now();
  const object = {
    apiVersion: sessions.apiVersion,
    kind: sessions.kind,
    metadata: { generateName: 'session-' },
    spec: { user: subject.name },
    status: {
      expiresAt: new Date(now + sessionLifetimeMs).toISOString(),
      lastUsedAt: new Date(now).toISOString(),
      ...originOf(exchange),
      ...status,
    },
  };
  const outcome = await execute(sessions, { type: 'create', object }, sessionContext(exchange, 'create', subject));
  if (!outcome.ok) return outcome;
  await endOldest(subject.name, exchange, dependencies);
  recordSession(exchange, { kind: 'login', user: subject.name }, dependencies);
  const text = tokenOf(outcome);
  return { ok: true, text, cookie: cookieOf(text, { isSecure: exchange.sender.isSecure }) };
}

/**
 * Ends the sessions of the user above the limit, those with the oldest recorded use. Concurrent log-ins choose the same
 * sessions, and thus do not end too many. With several nodes, a few sessions above the limit may remain.
 */
async function endOldest(user: string, exchange: Exchange, dependencies: SessionStartDependencies): Promise<void> {
  const { permissions, reader, sessions, execute } = dependencies;
  const names = permissions.sessionsOf(user);
  if (names.length <= sessionsPerUserMax) return;
  // The log-in and each recorded use write the session, so the oldest recorded uses have the lowest positions.
  const begun = names.flatMap((name) => {
    const stored = reader.get(sessions.key, name);
    return stored === undefined ? [] : [{ name, stored }];
  });
  begun.sort((one, other) => Number(one.stored.position - other.stored.position));
  const context: WriteContext = { ...sessionContext(exchange, 'delete', platform), admitted: 'whole' };
  for (const { name, stored } of begun.slice(0, Math.max(0, begun.length - sessionsPerUserMax))) {
    const {
      metadata: { uid },
    } = storedObject(stored.bytes);
    await execute(sessions, { type: 'delete', name, preconditions: { uid } }, context);
  }
}

export function recordSession(
  { requestId, sender: { address } }: Exchange,
  access: { readonly kind: 'login' | 'logout'; readonly user: string },
  { accesses }: Pick<SessionStartDependencies, 'accesses'>,
): void {
  accesses.record({ ...access, requestId, address });
}

/**
 * Returns the context for a write of a session. The platform is the subject, but the event records the address and the
 * user agent of the request.
 */
export function sessionContext(exchange: Exchange, verb: string, chargedTo: Subject): WriteContext {
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
