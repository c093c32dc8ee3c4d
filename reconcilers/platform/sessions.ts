import { isObject } from '../../src/base/guards.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import type { Change } from '../../src/read/objects.ts';
import type { PermissionReader } from '../../src/read/permission-reader.ts';
import { platformContext } from '../../src/command/platform-context.ts';
import type { PlatformSubject } from '../../src/command/subject.ts';
import { sessionEndsConcurrencyMax, sessionSweepMsMax, sessionSweepMsMin } from '../../src/limits/reconcilers.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { again, refused, settled, type Outcome } from '../outcome.ts';
import { namesOf, type PlatformDependencies, readObject } from './platform-reads.ts';
import { PlatformReconciler } from './platform-reconciler.ts';

const subject: PlatformSubject = { kind: 'platform', part: 'sessions' };

export type SessionKeeperDependencies = PlatformDependencies & {
  readonly permissions: Pick<PermissionReader, 'isReady' | 'user' | 'sessionsOf' | 'subscribe'>;
  readonly sessions: ResourceType;
};

/**
 * Deletes sessions that have ended: expired sessions, and sessions of a user that was deleted, replaced or disabled, or
 * that got a new password. An ended session is already invalid, so the deletion only frees space. A session of a user
 * of the identity provider ends only at its expiry, since the user has no User object.
 *
 * A last step of a deposed leader is harmless (docs/spec/consistency.md, 6): uid, password revision and `timesDisabled`
 * never return to earlier values. The exception is a session that was created while its user was disabled. After the
 * deletion of such a session, the user must log in again.
 */
export class SessionKeeper extends PlatformReconciler {
  readonly #dependencies: SessionKeeperDependencies;

  constructor(dependencies: SessionKeeperDependencies) {
    super({ name: 'sessions', concurrency: sessionEndsConcurrencyMax }, dependencies);
    this.#dependencies = dependencies;
    const { permissions } = dependencies;
    this.addSubscription(
      permissions.subscribe(({ credentials }) => {
        for (const [user, cause] of credentials) this.enqueueKeys(() => permissions.sessionsOf(user), cause);
      }),
    );
  }

  /** All sessions. The permission tables must be ready. */
  protected keys(): Iterable<string> {
    return namesOf(this.#dependencies.reader, this.#dependencies.sessions);
  }

  /** Enqueues a changed session, since its user may have been deleted before or its expiry may have changed. */
  protected onChange({ type, name, kind, cause }: Change): void {
    if (type === this.#dependencies.sessions.key && kind !== 'deleted') this.enqueue(name, cause);
  }

  protected reconcile(name: string, cause: CausingEvent | undefined): Outcome | Promise<Outcome> {
    const { reader, permissions, sessions, clock } = this.#dependencies;
    const session = readObject(reader, sessions, name)?.object;
    // Permission tables that have not loaded the log contain no users. No session must end because of this.
    if (session === undefined || session.metadata.deletionTimestamp !== undefined || !permissions.isReady())
      return settled;
    const leftMs = expiryOf(session) - clock.now();
    // The wall clock may be changed, so no wait is longer than a sweep interval.
    return hasEnded(session, permissions, clock.now())
      ? this.#end(session, cause)
      : again(Math.min(Math.max(leftMs, sessionSweepMsMin), sessionSweepMsMax));
  }

  async #end({ metadata: { name, uid } }: ResourceObject, cause: CausingEvent | undefined): Promise<Outcome> {
    const { execute, sessions, uuid } = this.#dependencies;
    const outcome = await execute(
      sessions,
      { type: 'delete', name, preconditions: { uid } },
      platformContext(subject, { verb: 'delete', requestId: uuid() }, cause),
    );
    // The session was deleted or replaced by a session of the same name.
    return outcome.ok || outcome.rejection.reason === 'not-found' || outcome.rejection.reason === 'stale-version'
      ? settled
      : refused(outcome.rejection);
  }
}

function hasEnded(session: ResourceObject, permissions: Pick<PermissionReader, 'user'>, now: number): boolean {
  if (expiryOf(session) <= now) return true;
  const { spec, status } = session;
  if (!isObject(spec) || typeof spec['user'] !== 'string' || !isObject(status)) return true;
  // Whether the issuer is trusted depends on the settings of each node, so only the expiry ends such a session.
  if (typeof status['issuer'] === 'string') return false;
  const user = permissions.user(spec['user']);
  return (
    user === undefined ||
    user.isDisabled ||
    user.uid !== status['userUid'] ||
    user.passwordRevision !== status['passwordRevision'] ||
    user.timesDisabled !== status['timesDisabled']
  );
}

/** The expiry in epoch milliseconds; 0 for an invalid time, so that the session counts as expired. */
function expiryOf({ status }: ResourceObject): number {
  const expiry = isObject(status) && typeof status['expiresAt'] === 'string' ? Date.parse(status['expiresAt']) : NaN;
  return Number.isNaN(expiry) ? 0 : expiry;
}
