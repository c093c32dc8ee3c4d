import { chainTo, type ChangedRole } from '../../src/access/role-aggregation.ts';
import { roleOf } from '../../src/access/role-object.ts';
import type { Role } from '../../src/access/role.ts';
import type { Rule } from '../../src/access/rule.ts';
import type {
  PermissionChange,
  PermissionReader,
  ProposedAccess,
  ProposedRights,
  Rights,
  SessionRecord,
  TokenRecord,
  UserRecord,
} from '../../src/read/permission-reader.ts';
import type { Slices } from '../../src/base/slices.ts';
import { atOnce, inSlices, type Steps } from '../../src/base/steps.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import type { Subject } from '../../src/command/subject.ts';
import type { ChangeBatch, ChangeFeed, ObjectReader } from '../../src/read/objects.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import type { ListQuery } from '../../src/resource/query/list-query.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import { typeKeyOf } from '../../src/resource/type/type-declaration.ts';
import { Credentials } from './permission-credentials.ts';
import { Holders } from './permission-holders.ts';
import { bindingOf, liveObject, sessionOf, tokenOf, userOf } from './permission-objects.ts';
import { HeldRights, Remembered, unboundedRights } from './permission-rights.ts';
import { KnownRoles } from './permission-roles.ts';
import type { TableContents } from './table-contents.ts';

type TableChanges = {
  readonly credentials: Map<string, CausingEvent>;
  rights: boolean;
  /** The event of the change that is being applied; undefined while loading. */
  cause: CausingEvent | undefined;
};

/**
 * Applies the current state of one object, and records the effects on users and rights. `object` is undefined if the
 * object was deleted, is marked for deletion or is malformed.
 */
type Take = (name: string, object: ResourceObject | undefined, affected: TableChanges) => void;

type TakeLive = (name: string, object: ResourceObject | undefined) => void;

const all: Pick<ListQuery, 'selection' | 'sort'> = { selection: { labels: [], fields: [] }, sort: [] };

/**
 * Roles, bindings, users, tokens and sessions in memory, prepared for decisions. The tables change in the turn in which
 * an event is folded, so that no request is authorized by an earlier state.
 */
export class PermissionTables implements PermissionReader, ProposedAccess {
  readonly #reader: ObjectReader;
  readonly #roles = new KnownRoles();
  readonly #holders = new Holders({ roles: this.#roles, remembered: new Remembered() });
  readonly #credentials = new Credentials();
  readonly #takes: ReadonlyMap<TypeKey, Take>;
  readonly #listeners = new Set<(change: PermissionChange) => void>();
  #state: 'empty' | 'loading' | 'ready' = 'empty';

  constructor({
    reader,
    feed,
    domain,
  }: {
    readonly reader: ObjectReader;
    readonly feed: ChangeFeed;
    readonly domain: string;
  }) {
    this.#reader = reader;
    this.#takes = this.#foldOf(domain);
    feed.subscribe((batch) => {
      this.#apply(batch);
    });
  }

  /** Loads all objects in this turn and replaces the earlier contents. The indexes of the five types must be ready. */
  load(): void {
    atOnce(this.#loading());
  }

  /** Loads all objects over several turns. The tables are not ready before the end. */
  async loadIn(slices: Pick<Slices, 'isOver' | 'next'>): Promise<void> {
    await inSlices(this.#loading(), slices);
  }

  /**
   * Loads the current state of one object in each step. The feed updates objects that change after they were loaded.
   */
  *#loading(): Steps<undefined> {
    this.#state = 'loading';
    for (const table of [this.#roles, this.#holders, this.#credentials]) table.clear();
    const affected = noChanges();
    for (const [type, take] of this.#takes) {
      for (const page of this.#reader.pages(type, all)) {
        yield* this.#read(type, page, (name, object) => {
          take(name, object, affected);
        });
      }
    }
    this.#state = 'ready';
  }

  *#read(type: TypeKey, names: readonly string[], take: TakeLive): Steps<undefined> {
    for (const name of names) {
      const stored = this.#reader.get(type, name);
      if (stored !== undefined) take(name, liveObject(stored.bytes));
      yield;
    }
  }

  isReady(): boolean {
    return this.#state === 'ready';
  }

  rightsOf(subject: Subject): Rights {
    switch (subject.kind) {
      case 'visitor':
        return this.#holders.visitor.rights();
      case 'user': {
        const held = this.#holders.of(subject.name);
        const { credential } = subject;
        return credential.kind === 'token' && credential.roles !== undefined
          ? held.restrictedTo(credential.roles)
          : held.rights();
      }
      case 'plugin':
      case 'platform':
        return unboundedRights;
    }
  }

  role(name: string): Role | undefined {
    return this.#roles.role(name)?.role;
  }

  roles(): Iterable<Role> {
    return this.#roles.all();
  }

  boundRoles(user: string): readonly string[] {
    return this.#holders.of(user).bound;
  }

  *holders(role: string, binding?: string): Generator<{ readonly binding: string; readonly user: string }, undefined> {
    for (const { name, users } of this.#holders.bindingsTo(role, binding)) {
      for (const user of users) if (canLogIn(this.user(user))) yield { binding: name, user };
    }
  }

  isHolder(role: string, user: string): boolean {
    return this.#holders.isBound(user, role) && canLogIn(this.user(user));
  }

  rulesOf(names: Iterable<string>, changed?: ChangedRole): readonly Rule[] {
    return this.#roles.rulesOf(names, changed);
  }

  rightsWith(names: readonly string[], changes: readonly ChangedRole[]): ProposedRights {
    const { closure, inclusions, role } = this.#roles.proposed(names, changes);
    return {
      rights: new HeldRights(closure, new Remembered()),
      chainTo: (target) => chainTo(target, inclusions),
      role,
    };
  }

  user(name: string): UserRecord | undefined {
    return this.#credentials.user(name);
  }

  token(uid: string): TokenRecord | undefined {
    return this.#credentials.token(uid);
  }

  session(uid: string): SessionRecord | undefined {
    return this.#credentials.session(uid);
  }

  tokensOf(owner: string): number {
    return this.#credentials.tokensOf(owner);
  }

  sessionsOf(user: string): readonly string[] {
    return this.#credentials.sessionsOf(user);
  }

  /** The contents of the tables, without values that are computed on demand. */
  contents(): readonly TableContents[] {
    return [this.#roles, this.#holders, this.#credentials].flatMap((part) => part.contents());
  }

  subscribe(listener: (change: PermissionChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #apply({ changes }: ChangeBatch): void {
    if (this.#state === 'empty') return;
    const affected = noChanges();
    for (const { type, name, kind, deletionRequested, bytes, cause } of changes) {
      const take = this.#takes.get(type);
      if (take === undefined) continue;
      affected.cause = cause;
      take(name, kind === 'deleted' || deletionRequested ? undefined : liveObject(bytes), affected);
    }
    if (this.#state !== 'ready' || (affected.credentials.size === 0 && !affected.rights)) return;
    for (const listener of this.#listeners) listener(affected);
  }

  #foldOf(domain: string): ReadonlyMap<TypeKey, Take> {
    const recordCredentials = (affected: TableChanges, user: string | undefined): void => {
      if (user !== undefined && affected.cause !== undefined) affected.credentials.set(user, affected.cause);
    };
    const recordRights = (affected: TableChanges, changed: boolean): void => {
      affected.rights ||= changed;
    };
    const known = <T>(object: ResourceObject | undefined, decode: (object: ResourceObject) => T): T | undefined =>
      object === undefined ? undefined : decode(object);
    return new Map<TypeKey, Take>([
      [
        typeKeyOf('', 'roles'),
        (name, object, affected) => {
          recordRights(
            affected,
            this.#roles.put(
              name,
              known(object, (role) => roleOf(role, domain)),
            ),
          );
        },
      ],
      [
        typeKeyOf('', 'rolebindings'),
        (name, object, affected) => {
          recordRights(affected, this.#holders.put(name, known(object, bindingOf)));
        },
      ],
      [
        typeKeyOf('', 'users'),
        (name, object, affected) => {
          recordCredentials(affected, this.#credentials.putUser(name, known(object, userOf)));
        },
      ],
      [
        typeKeyOf('', 'personalaccesstokens'),
        (name, object, affected) => {
          recordCredentials(affected, this.#credentials.putToken(name, known(object, tokenOf)));
        },
      ],
      [
        typeKeyOf('', 'sessions'),
        (name, object, affected) => {
          recordCredentials(affected, this.#credentials.putSession(name, known(object, sessionOf)));
        },
      ],
    ]);
  }
}

function noChanges(): TableChanges {
  return { credentials: new Map(), rights: false, cause: undefined };
}

function canLogIn(user: UserRecord | undefined): boolean {
  return user?.isDisabled === false && user.passwordRevision !== undefined;
}
