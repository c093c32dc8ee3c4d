import PQueue from 'p-queue';

import type { PermissionReader } from '../src/auth/permission-reader.ts';
import type { Clock, Timer } from '../src/base/clock.ts';
import { actorOf, type Subject } from '../src/command/subject.ts';
import type { Execute } from '../src/execute.ts';
import { collectorRetryMsMax, sessionEndsConcurrencyMax, sessionSweepMsMax, sessionSweepMsMin } from '../src/limits.ts';
import type { ChangeFeed, ObjectReader } from '../src/read/objects.ts';
import type { ResourceObject } from '../src/resource/object.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { isMembers } from '../src/resource/schema-check.ts';
import { storedObject } from '../src/resource/shown-object.ts';

/**
 * Deletes sessions that have ended: expired, or of a user who is gone, another, disabled, or has another password. Such a
 * session counts nowhere any more; this only keeps them from piling up. Like the collector it gets names, reads the world
 * and takes one step, so running it twice is harmless.
 */
const subject: Subject = { kind: 'platform', part: 'sessions' };

export type SessionKeeperDependencies = {
  readonly changes: ChangeFeed;
  readonly reader: ObjectReader;
  readonly permissions: Pick<PermissionReader, 'isReady' | 'user' | 'sessionsOf' | 'subscribe'>;
  readonly execute: Execute;
  /** The type Session. */
  readonly sessions: ResourceType;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown, name: string) => void;
};

export class SessionKeeper {
  readonly #dependencies: SessionKeeperDependencies;
  readonly #queue = new PQueue({ concurrency: sessionEndsConcurrencyMax });
  /** Names queued, running or waiting for their next try; `again`: looked at once more afterwards. */
  readonly #pending = new Map<string, 'once' | 'again'>();
  /** When each session expires, in epoch milliseconds. */
  readonly #expiries = new Map<string, number>();
  readonly #unsubscribe: readonly (() => void)[];
  #timer: Timer | undefined;
  #stopped = false;

  constructor(dependencies: SessionKeeperDependencies) {
    this.#dependencies = dependencies;
    const { changes, permissions, sessions } = dependencies;
    this.#unsubscribe = [
      changes.subscribe((batch) => {
        for (const { type, name, kind, bytes } of batch.changes) {
          if (type !== sessions.key) continue;
          this.#note(name, kind === 'deleted' ? undefined : storedObject(bytes));
          // Its user may have gone while it was made: nobody else would look at it before it expires.
          if (kind === 'added') this.#enqueue(name);
        }
      }),
      permissions.subscribe(({ credentials }) => {
        for (const user of credentials) for (const name of permissions.sessionsOf(user)) this.#enqueue(name);
      }),
    ];
  }

  /** Looks at every session. Call it once the permission tables are ready. */
  enqueueAll(): void {
    const { reader, sessions } = this.#dependencies;
    for (const name of reader.names(sessions.key, { selection: { labels: [], fields: [] }, sort: [], window: { kind: 'all' } })) {
      const stored = reader.get(sessions.key, name);
      this.#note(name, stored === undefined ? undefined : storedObject(stored.bytes));
      this.#enqueue(name);
    }
  }

  /** Lets what is running finish and drops the rest: the next start looks at everything again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#queue.clear();
    await this.#queue.onIdle();
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
    if (this.#timer !== undefined || this.#stopped || this.#expiries.size === 0) return;
    const { clock } = this.#dependencies;
    let earliest = Infinity;
    for (const expiry of this.#expiries.values()) earliest = Math.min(earliest, expiry);
    this.#timer = clock.after(Math.min(Math.max(earliest - clock.now(), sessionSweepMsMin), sessionSweepMsMax), () => {
      this.#timer = undefined;
      for (const [name, expiry] of this.#expiries) if (expiry <= clock.now()) this.#enqueue(name);
      this.#wait();
    });
  }

  #enqueue(name: string): void {
    if (this.#stopped) return;
    const isPending = this.#pending.has(name);
    this.#pending.set(name, isPending ? 'again' : 'once');
    if (!isPending) this.#schedule(name, 1);
  }

  #schedule(name: string, attempt: number): void {
    void this.#queue.add(async () => {
      this.#pending.set(name, 'once');
      const outcome = await this.#end(name).catch((error: unknown) => {
        this.#dependencies.onError(error, name);
        return 'again' as const;
      });
      if (this.#stopped) return;
      if (outcome === 'settled') {
        const more = this.#pending.get(name) === 'again';
        this.#pending.delete(name);
        if (more) this.#enqueue(name);
        return;
      }
      this.#dependencies.clock.after(Math.min(2 ** attempt * 10, collectorRetryMsMax), () => {
        if (!this.#stopped) this.#schedule(name, Math.min(attempt + 1, 30));
      });
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
