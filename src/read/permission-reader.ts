import type { ChangedRole } from '../access/role-aggregation.ts';
import type { Grant } from '../access/role-table.ts';
import type { Role } from '../access/role.ts';
import type { Rule } from '../access/rule.ts';
import type { CausingEvent } from '../command/event.ts';
import type { Subject } from '../command/subject.ts';
import type { NonResourceRequest, ResourceRequest } from '../resource/query/request-path.ts';

/** The port of the permission tables: roles, bindings, users, tokens and sessions. All reads are synchronous. */
export type PermissionReader = {
  /** Returns false until the whole log is folded, because incomplete tables must never decide. */
  isReady(): boolean;
  rightsOf(subject: Subject): Rights;
  role(name: string): Role | undefined;
  roles(): Iterable<Role>;
  /** Returns the sorted names of the roles that are bound to a user. */
  boundRoles(user: string): readonly string[];
  /**
   * Iterates lazily over the holders of a role: each pair of a RoleBinding and a user that can log in. Such a user is
   * enabled and has a password. `binding` limits the search to one binding.
   */
  holders(role: string, binding?: string): Iterable<{ readonly binding: string; readonly user: string }>;
  /** Returns whether this user is a holder of the role. */
  isHolder(role: string, user: string): boolean;
  /**
   * Returns the rules in the closure of the roles `names`: these roles, the roles on which they depend, and the roles
   * that they aggregate, directly or indirectly. `changed` replaces one role; with `role: undefined`, the role is
   * absent.
   */
  rulesOf(names: Iterable<string>, changed?: ChangedRole): readonly Rule[];
  user(name: string): UserRecord | undefined;
  token(uid: string): TokenRecord | undefined;
  session(uid: string): SessionRecord | undefined;
  tokensOf(owner: string): number;
  /** Returns the names of the sessions of a user. */
  sessionsOf(user: string): readonly string[];
  /** Calls `listener` in the turn of a commit that changed a role, a binding, a user, a token or a session. */
  subscribe(listener: (change: PermissionChange) => void): () => void;
};

/**
 * `credentials` contains the users with a changed or ended credential, each with the last event of such a change.
 * `rights`: whether the rights of any subject have changed.
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
  /** The existing roles in the closure of the subject's roles. */
  readonly roles: ReadonlySet<string>;
  /**
   * Returns the first rule that allows the request; undefined without such a rule. `pluginOf` returns the plugin of the
   * requested type or route.
   */
  find(request: ApiRequest, pluginOf: (request: ApiRequest) => string | undefined): Grant | undefined;
  /** Returns the plugins of rules that would allow the request if the plugin owned the requested type or route. */
  pluginsFor(request: ApiRequest): ReadonlySet<string>;
  /** Returns the first of `rules` that these rights do not cover (decision 6.7); undefined if all are covered. */
  findUncovered(rules: readonly Rule[]): Rule | undefined;
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
   * True once the event that records the expiry is folded; otherwise absent. `expiresAt` decides whether the token is
   * valid. A change of this member causes a check of the token's watches.
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
  /** The user's `timesDisabled` at the log-in. Enabling the user again restores no session. */
  readonly timesDisabled?: number;
  readonly expiresAt: number;
};

/** The rights of a set of roles after proposed changes of roles, which are not stored. */
export type ProposedRights = {
  readonly rights: Rights;
  /**
   * Returns a shortest chain of roles from one of the set to `role`, in which each role includes the next; empty if the
   * set does not include the role.
   */
  readonly chainTo: (role: string) => readonly string[];
  readonly role: (name: string) => Role | undefined;
};

/** Port: the rights that roles would have after changes. Nothing is written. */
export type ProposedAccess = {
  /** Returns the rights of the roles `names`, with `changes` in place of the stored roles. */
  rightsWith(names: readonly string[], changes: readonly ChangedRole[]): ProposedRights;
};
