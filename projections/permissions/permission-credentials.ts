import type { SessionRecord, TokenRecord, UserRecord } from '../../src/read/permission-reader.ts';
import { deepEqual } from '../../src/base/json.ts';
import type { TableContents } from './table-contents.ts';

/**
 * The users, tokens and sessions. A `put` method returns the user name of an existing record that it changed or
 * removed; otherwise undefined.
 */
export class Credentials {
  readonly #users = new Map<string, UserRecord>();
  readonly #tokens = new Map<string, TokenRecord>();
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #tokensByUid = new Map<string, TokenRecord>();
  readonly #sessionsByUid = new Map<string, SessionRecord>();
  readonly #tokensOf = new Map<string, number>();
  readonly #sessionsOf = new Map<string, Set<string>>();

  user(name: string): UserRecord | undefined {
    return this.#users.get(name);
  }

  token(uid: string): TokenRecord | undefined {
    return this.#tokensByUid.get(uid);
  }

  session(uid: string): SessionRecord | undefined {
    return this.#sessionsByUid.get(uid);
  }

  tokensOf(owner: string): number {
    return this.#tokensOf.get(owner) ?? 0;
  }

  sessionsOf(user: string): readonly string[] {
    return [...(this.#sessionsOf.get(user) ?? [])];
  }

  putUser(name: string, after: UserRecord | undefined): string | undefined {
    return replaced(this.#users, name, after) === undefined ? undefined : name;
  }

  putToken(name: string, after: TokenRecord | undefined): string | undefined {
    const before = this.#tokens.get(name);
    const changed = replaced(this.#tokens, name, after);
    if (before !== this.#tokens.get(name)) {
      if (before !== undefined) this.#tokensByUid.delete(before.uid);
      if (after !== undefined) this.#tokensByUid.set(after.uid, after);
      this.#countTokens(before?.owner, -1);
      this.#countTokens(after?.owner, 1);
    }
    return changed?.owner;
  }

  putSession(name: string, after: SessionRecord | undefined): string | undefined {
    const before = this.#sessions.get(name);
    const changed = replaced(this.#sessions, name, after);
    if (before !== this.#sessions.get(name)) {
      if (before !== undefined) this.#dropSession(before);
      if (after !== undefined) this.#addSession(after);
    }
    return changed?.user;
  }

  contents(): readonly TableContents[] {
    return [
      { table: 'users', entries: this.#users },
      { table: 'tokens', entries: this.#tokens },
      { table: 'tokens by uid', entries: this.#tokensByUid },
      { table: 'numbers of tokens', entries: this.#tokensOf },
      { table: 'sessions', entries: this.#sessions },
      { table: 'sessions by uid', entries: this.#sessionsByUid },
      { table: 'sessions of users', entries: this.#sessionsOf },
    ];
  }

  clear(): void {
    for (const map of [this.#users, this.#tokens, this.#tokensByUid, this.#tokensOf]) map.clear();
    for (const map of [this.#sessions, this.#sessionsByUid, this.#sessionsOf]) map.clear();
  }

  #countTokens(owner: string | undefined, change: 1 | -1): void {
    if (owner === undefined) return;
    const count = this.tokensOf(owner) + change;
    if (count === 0) this.#tokensOf.delete(owner);
    else this.#tokensOf.set(owner, count);
  }

  #addSession(session: SessionRecord): void {
    this.#sessionsByUid.set(session.uid, session);
    const names = this.#sessionsOf.get(session.user);
    if (names === undefined) this.#sessionsOf.set(session.user, new Set([session.name]));
    else names.add(session.name);
  }

  #dropSession({ uid, user, name }: SessionRecord): void {
    this.#sessionsByUid.delete(uid);
    const names = this.#sessionsOf.get(user);
    names?.delete(name);
    if (names?.size === 0) this.#sessionsOf.delete(user);
  }
}

/**
 * Replaces a record. Returns the previous record after a change or a deletion; otherwise undefined. An equal record is
 * not replaced, since rights are cached by the identity of the record.
 */
function replaced<T>(records: Map<string, T>, name: string, after: T | undefined): T | undefined {
  const before = records.get(name);
  if (before !== undefined && after !== undefined && deepEqual(before, after)) return undefined;
  if (after === undefined) records.delete(name);
  else records.set(name, after);
  return before;
}
