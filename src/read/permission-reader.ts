import type { ChangedRole } from '../access/role-aggregation.ts';
import type { Grant } from '../access/role-table.ts';
import type { Role } from '../access/role.ts';
import type { Rule } from '../access/rule.ts';
import type { CausingEvent } from '../command/event.ts';
import type { Subject } from '../command/subject.ts';
import type { NonResourceRequest, ResourceRequest } from '../resource/query/request-path.ts';

/**
 * Port of the permission tables: roles, bindings, users, tokens and sessions, folded from the log. All reads are
 * synchronous.
 */
export type PermissionReader = {
  /** False until the whole log is folded, because incomplete tables must never decide. */
  isReady(): boolean;
  rightsOf(subject: Subject): Rights;
  role(name: string): Role | undefined;
  roles(): Iterable<Role>;
  /** The names of the roles bound to a user, sorted, without the roles that everybody has. */
  boundRoles(user: string): readonly string[];
  /**
   * The holders of a role: each pair of a RoleBinding to `role` and one of its users that can log in. Such a user
   * exists, is enabled and has a password. Iterates lazily. `binding` limits the search to one binding.
   */
  holders(role: string, binding?: string): Iterable<{ readonly binding: string; readonly user: string }>;
  /** Whether this user is one of the holders of the role. */
  isHolder(role: string, user: string): boolean;
  /**
   * The rules of the roles in the closure of `names`. The closure consists of these roles, the roles on which they
   * depend, and the roles that they aggregate, directly or indirectly. `changed` replaces one role in this computation;
   * with `role: undefined`, the role is absent.
   */
  rulesOf(names: Iterable<string>, changed?: ChangedRole): readonly Rule[];
  user(name: string): UserRecord | undefined;
  token(uid: string): TokenRecord | undefined;
  session(uid: string): SessionRecord | undefined;
  /** The number of tokens of this owner. */
  tokensOf(owner: string): number;
  /** Names of the sessions of a user. */
  sessionsOf(user: string): readonly string[];
  /** Calls `listener` in the turn of a commit that changed a role, a binding, a user, a token or a session. */
  subscribe(listener: (change: PermissionChange) => void): () => void;
};

/**
 * `credentials`: users with a changed or ended credential, each with the last event that changed a credential of the
 * user. `rights`: whether the rights of any subject have changed.
 */
export type PermissionChange = {
  readonly credentials: ReadonlyMap<string, CausingEvent>;
  readonly rights: boolean;
};

export type ApiRequest = ResourceRequest | NonResourceRequest;

/** All rights of one subject. */
export type Rights = {
  /** Whether `super-role` is in the closure of the subject's roles. */
  readonly isSuperAdministrator: boolean;
  /** Every existing role in the closure of the subject's roles. */
  readonly roles: ReadonlySet<string>;
  /**
   * The first rule that allows the request; undefined if there is none. `pluginOf` returns the plugin of the requested
   * type or route, and is called only for rules that name a plugin.
   */
  find(request: ApiRequest, pluginOf: (request: ApiRequest) => string | undefined): Grant | undefined;
  /**
   * Each plugin that a rule names and for which the rule would allow the request, if the requested type or route
   * belonged to the plugin.
   */
  pluginsFor(request: ApiRequest): ReadonlySet<string>;
  /** The first of `rules` that these rights do not cover (decision 6.7); undefined if they cover all of them. */
  findUncovered(rules: readonly Rule[]): Rule | undefined;
  /** All rules of the subject's roles. */
  rules(): readonly Rule[];
};

/** The record of a user. A User object that is marked for deletion has no record, so the user has no rights. */
export type UserRecord = {
  readonly name: string;
  readonly uid: string;
  readonly isDisabled: boolean;
  /** The revision of `secret:<uid>` with the password hash; undefined without a password. */
  readonly passwordRevision: number | undefined;
  /** The number of times that the user was disabled; absent for 0. */
  readonly timesDisabled?: number;
};

export type TokenRecord = {
  readonly name: string;
  readonly uid: string;
  readonly owner: string;
  readonly ownerUid: string;
  /** The roles to which the token is limited; undefined for all roles of the owner. */
  readonly roles: readonly string[] | undefined;
  /** The time of the expiry, in epoch milliseconds. */
  readonly expiresAt: number | undefined;
  readonly isRevoked: boolean;
  /**
   * True once the event that records the expiry in the token's status is folded; otherwise absent. This member does not
   * decide whether the token is valid (`expiresAt` does). A change of this member makes the guard check the watches of
   * the token.
   */
  readonly isExpiryRecorded?: true;
};

export type SessionRecord = {
  readonly name: string;
  readonly uid: string;
  readonly user: string;
  /** The uid of the User; undefined for a user of the identity provider. */
  readonly userUid: string | undefined;
  /** The issuer that authenticated the user; absent for a User. Such a session is valid while the issuer is trusted. */
  readonly issuer?: string;
  /** The user's `passwordRevision` at the log-in: a new password ends the session. */
  readonly passwordRevision: number | undefined;
  /** The user's `timesDisabled` at the log-in: enabling the user again restores no session. */
  readonly timesDisabled?: number;
  readonly expiresAt: number;
};
