import type { PermissionReader } from '../src/auth/permission-reader.ts';
import type { Clock, Timer } from '../src/base/clock.ts';
import { actorOf, type Subject } from '../src/command/subject.ts';
import type { Execute } from '../src/execute.ts';
import { sessionEndsConcurrencyMax, sessionSweepMsMax, sessionSweepMsMin } from '../src/limits.ts';
import type { ChangeFeed, ObjectReader } from '../src/read/objects.ts';
import type { ResourceObject } from '../src/resource/object.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { isMembers } from '../src/resource/schema-check.ts';
import { storedObject } from '../src/resource/shown-object.ts';
import { KeyQueue } from './key-queue.ts';
import type { Leadership } from './lease.ts';

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

export type SessionKeeperDependencies = {
  readonly changes: ChangeFeed;
  readonly reader: ObjectReader;
  readonly permissions: Pick<PermissionReader, 'isReady' | 'user' | 'sessionsOf' | 'subscribe'>;
  readonly execute: Execute;
  /** The type Session. */
  readonly sessions: ResourceType;
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown, name: string) => void;
};

export class SessionKeeper {
  readonly #dependencies: SessionKeeperDependencies;
  readonly #queue: KeyQueue;
  /** When each session expires, in epoch milliseconds: known to the leader only. */
  readonly #expiries = new Map<string, number>();
  readonly #unsubscribe: readonly (() => void)[];
  #timer: Timer | undefined;
  /** The permission tables are there, and the sessions can be listed. */
  #isOpen = false;

  constructor(dependencies: SessionKeeperDependencies) {
    this.#dependencies = dependencies;
    const { changes, permissions, sessions, clock, leadership, onError } = dependencies;
    this.#queue = new KeyQueue({
      concurrency: sessionEndsConcurrencyMax, clock, leadership, onError, step: async (name) => this.#end(name),
      onChange: (leads) => {
        this.#forget();
        if (leads && this.#isOpen) this.#enqueueAll();
      },
    });
    this.#unsubscribe = [
      changes.subscribe((batch) => {
        if (!this.#queue.isActive()) return;
        for (const { type, name, kind, bytes } of batch.changes) {
          if (type !== sessions.key) continue;
          this.#note(name, kind === 'deleted' ? undefined : storedObject(bytes));
          // Its user may have gone while it was made: nobody else would look at it before it expires.
          if (kind === 'added') this.#queue.enqueue(name);
        }
      }),
      permissions.subscribe(({ credentials }) => {
        for (const user of credentials) for (const name of permissions.sessionsOf(user)) this.#queue.enqueue(name);
      }),
    ];
  }

  /** Looks at every session, now and whenever this node begins to lead. Call it once the permission tables are ready. */
  open(): void {
    this.#isOpen = true;
    if (this.#queue.isActive()) this.#enqueueAll();
  }

  /** Lets what is running finish and drops the rest: the next start looks at everything again. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    const stopped = this.#queue.stop();
    this.#forget();
    await stopped;
  }

  #enqueueAll(): void {
    const { reader, sessions } = this.#dependencies;
    for (const name of reader.names(sessions.key, { selection: { labels: [], fields: [] }, sort: [], window: { kind: 'all' } })) {
      const stored = reader.get(sessions.key, name);
      this.#note(name, stored === undefined ? undefined : storedObject(stored.bytes));
      this.#queue.enqueue(name);
    }
  }

  #forget(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#expiries.clear();
  }

  #note(name: string, session: ResourceObject | undefined): void {
    if (session === undefined || session.metadata.deletionTimestamp !== undefined) {
      this.#expiries.delete(name);
      return;
    }
    this.#expiries.set(name, expiryOf(session));
    this.#wait();
  }

  /** One timer for all: it sleeps until the first one expires, neither shorter nor longer than makes sense. */
  #wait(): void {
    if (this.#timer !== undefined || !this.#queue.isActive() || this.#expiries.size === 0) return;
    const { clock } = this.#dependencies;
    let earliest = Infinity;
    for (const expiry of this.#expiries.values()) earliest = Math.min(earliest, expiry);
    this.#timer = clock.after(Math.min(Math.max(earliest - clock.now(), sessionSweepMsMin), sessionSweepMsMax), () => {
      this.#timer = undefined;
      for (const [name, expiry] of this.#expiries) if (expiry <= clock.now()) this.#queue.enqueue(name);
      this.#wait();
    });
  }

  async #end(name: string): Promise<'settled' | 'again'> {
    const { reader, permissions, execute, sessions, clock, uuid } = this.#dependencies;
    const stored = reader.get(sessions.key, name);
    const session = stored === undefined ? undefined : storedObject(stored.bytes);
    // Tables that do not know the past know no user: nobody's session has ended by that.
    if (session === undefined || session.metadata.deletionTimestamp !== undefined || !permissions.isReady()) return 'settled';
    if (!hasEnded(session, permissions, clock.now())) return 'settled';
    const outcome = await execute(sessions, { type: 'delete', name, preconditions: { uid: session.metadata.uid } }, {
      cause: { actor: actorOf(subject), verb: 'delete', requestId: uuid() }, dryRun: false, fieldValidation: undefined, origin: 'platform', subject,
    });
    // Gone, or another of the name: a later change enqueues it again if need be.
    return outcome.ok || outcome.rejection.reason === 'not-found' || outcome.rejection.reason === 'stale-version' ? 'settled' : 'again';
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
