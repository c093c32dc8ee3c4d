import type { PermissionReader } from '../../src/read/permission-reader.ts';
import { actorOf, type Subject } from '../../src/command/subject.ts';
import { sessionEndsConcurrencyMax, sessionSweepMsMax, sessionSweepMsMin } from '../../src/limits/reconcilers.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { isMembers } from '../../src/resource/schema/schema-check.ts';
import { Controller } from '../controller.ts';
import { again, refused, settled, type Outcome } from '../outcome.ts';
import { namesOf, type PlatformDependencies, readObject } from './platform-reads.ts';

/**
 * Deletes sessions that have ended: expired, or of a user who is gone, another, disabled, or has another password. Such a
 * session counts nowhere any more; this only keeps them from piling up. Like the collector it gets names, reads the world
 * and takes one step, so running it twice is harmless.
 *
 * A leader that is one no more may still take a last step, and that is harmless (consistency protocol, 6): the deletion is bound
 * to the session's uid, and a session that has ended as of any event after its own has ended for good, as what it was made
 * with (the user's uid, password revision, times disabled) never comes back. Only one that was made while its user was
 * disabled could have come to count; that one is a log-in to be repeated. A clock that is ahead ends sessions early, lease or not.
 */
const subject: Subject = { kind: 'platform', part: 'sessions' };

export type SessionKeeperDependencies = PlatformDependencies & {
  readonly permissions: Pick<PermissionReader, 'isReady' | 'user' | 'sessionsOf' | 'subscribe'>;
  /** The type Session. */
  readonly sessions: ResourceType;
};

export class SessionKeeper {
  readonly #dependencies: SessionKeeperDependencies;
  readonly #controller: Controller;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(dependencies: SessionKeeperDependencies) {
    this.#dependencies = dependencies;
    const { bound, changes, reader, permissions, sessions, clock, leadership, onError } = dependencies;
    this.#controller = new Controller({
      name: 'sessions', bound, concurrency: sessionEndsConcurrencyMax, clock, leadership, onError, reconcile: (name) => this.#look(name),
      keys: () => namesOf(reader, sessions),
      onStuck: (name) => { onError(new Error('it does not end'), name); },
    });
    this.#unsubscribe = [
      // Its user may have gone while it was made, or its time may be another: nobody else would look at it before it expires.
      changes.subscribe((batch) => {
        for (const { type, name, kind } of batch.changes) if (type === sessions.key && kind !== 'deleted') this.#controller.enqueue(name);
      }),
      permissions.subscribe(({ credentials }) => {
        for (const user of credentials) this.#controller.enqueueAll(() => permissions.sessionsOf(user));
      }),
    ];
  }

  /** Looks at every session, now and whenever this node begins to lead. Call it once the permission tables are ready. */
  open(): void {
    this.#controller.open();
  }

  /** Lets what is running finish and drops the rest: the next start looks at everything again. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#controller.stop();
  }

  #look(name: string): Outcome | Promise<Outcome> {
    const { reader, permissions, sessions, clock } = this.#dependencies;
    const session = readObject(reader, sessions, name)?.object;
    // Tables that do not know the past know no user: nobody's session has ended by that.
    if (session === undefined || session.metadata.deletionTimestamp !== undefined || !permissions.isReady()) return settled;
    const leftMs = expiryOf(session) - clock.now();
    // The wall clock may be set: nothing relies on it for longer than a sweep.
    return hasEnded(session, permissions, clock.now()) ? this.#end(session) : again(Math.min(Math.max(leftMs, sessionSweepMsMin), sessionSweepMsMax));
  }

  async #end({ metadata: { name, uid } }: ResourceObject): Promise<Outcome> {
    const { execute, sessions, uuid } = this.#dependencies;
    const outcome = await execute(sessions, { type: 'delete', name, preconditions: { uid } }, {
      cause: { actor: actorOf(subject), verb: 'delete', requestId: uuid() }, dryRun: false, fieldValidation: undefined, origin: 'platform', subject,
    });
    // Gone, or another of the name: a later change enqueues it again if need be.
    return outcome.ok || outcome.rejection.reason === 'not-found' || outcome.rejection.reason === 'stale-version' ? settled : refused(outcome.rejection);
  }
}

function hasEnded(session: ResourceObject, permissions: Pick<PermissionReader, 'user'>, now: number): boolean {
  if (expiryOf(session) <= now) return true;
  const { spec, status } = session;
  if (!isMembers(spec) || typeof spec['user'] !== 'string' || !isMembers(status)) return true;
  const user = permissions.user(spec['user']);
  return user === undefined || user.isDisabled || user.uid !== status['userUid'] || user.passwordRevision !== status['passwordRevision'] || user.timesDisabled !== status['timesDisabled'];
}

/** What cannot be read as a time has no future. */
function expiryOf({ status }: ResourceObject): number {
  const expiry = isMembers(status) && typeof status['expiresAt'] === 'string' ? Date.parse(status['expiresAt']) : NaN;
  return Number.isNaN(expiry) ? 0 : expiry;
}
