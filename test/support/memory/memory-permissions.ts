import type { Role } from '../../../src/access/role.ts';
import type { Rule } from '../../../src/access/rule.ts';
import type {
  PermissionChange,
  PermissionReader,
  Rights,
  SessionRecord,
  TokenRecord,
  UserRecord,
} from '../../../src/read/permission-reader.ts';

/**
 * The permission tables as maps that a test fills: users, tokens, sessions, and the roles of each user. No role grants
 * any rights.
 */
export class MemoryPermissions implements PermissionReader {
  readonly #users = new Map<string, UserRecord>();
  readonly #tokens = new Map<string, TokenRecord>();
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #bindings = new Map<string, { readonly role: string; readonly user: string }>();
  readonly #listeners = new Set<(concerned: PermissionChange) => void>();
  ready = true;

  putUser(name: string, changes: Partial<UserRecord> = {}): UserRecord {
    const user = {
      uid: `00000000-0000-4000-8000-${name.padEnd(12, '0').slice(0, 12)}`,
      isDisabled: false,
      passwordRevision: undefined,
      ...this.#users.get(name),
      ...changes,
      name,
    };
    this.#users.set(name, user);
    this.#notify(name);
    return user;
  }

  dropUser(name: string): void {
    this.#users.delete(name);
    this.#notify(name);
  }

  putToken(token: TokenRecord): void {
    this.#tokens.set(token.uid, token);
    this.#notify(token.owner);
  }

  putSession(session: SessionRecord): void {
    this.#sessions.set(session.uid, session);
    this.#notify(session.user);
  }

  dropSession(uid: string): void {
    const session = this.#sessions.get(uid);
    this.#sessions.delete(uid);
    if (session !== undefined) this.#notify(session.user);
  }

  putBinding(binding: string, role: string, user: string): void {
    this.#bindings.set(binding, { role, user });
  }

  #notify(user: string): void {
    for (const listener of this.#listeners)
      listener({ credentials: new Map([[user, { id: '', correlationId: '' }]]), rights: false });
  }

  isReady(): boolean {
    return this.ready;
  }

  rightsOf(): Rights {
    return {
      isSuperAdministrator: false,
      roles: new Set(),
      find: () => undefined,
      pluginsFor: () => new Set(),
      findUncovered: ([rule]) => rule,
      rules: () => [],
    };
  }

  role(): Role | undefined {
    return undefined;
  }

  roles(): Iterable<Role> {
    return [];
  }

  boundRoles(user: string): readonly string[] {
    return [...this.#bindings.values()]
      .filter((binding) => binding.user === user)
      .map(({ role }) => role)
      .sort();
  }

  holders(role: string): readonly { readonly binding: string; readonly user: string }[] {
    return [...this.#bindings]
      .filter(([, held]) => held.role === role && this.#users.get(held.user)?.isDisabled === false)
      .map(([binding, { user }]) => ({ binding, user }));
  }

  isHolder(role: string, user: string): boolean {
    return this.holders(role).some((holder) => holder.user === user);
  }

  rulesOf(): readonly Rule[] {
    return [];
  }

  user(name: string): UserRecord | undefined {
    return this.#users.get(name);
  }

  token(uid: string): TokenRecord | undefined {
    return this.#tokens.get(uid);
  }

  session(uid: string): SessionRecord | undefined {
    return this.#sessions.get(uid);
  }

  tokensOf(owner: string): number {
    return [...this.#tokens.values()].filter((token) => token.owner === owner).length;
  }

  sessionsOf(user: string): readonly string[] {
    return [...this.#sessions.values()].filter((session) => session.user === user).map(({ name }) => name);
  }

  subscribe(listener: (concerned: PermissionChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
