import type { Role } from '../access/role.ts';
import type { Rule } from '../access/rule.ts';
import type { Subject } from '../command/subject.ts';
import type { NonResourceRequest, ResourceRequest } from '../resource/request-path.ts';

/** Port of the permission tables: roles, bindings, users, tokens and sessions, folded from the log. All reads are synchronous. */
export type PermissionReader = {
  /** False until the log's past is known: an empty table must never be taken for the truth. */
  isReady(): boolean;
  rightsOf(subject: Subject): Rights;
  role(name: string): Role | undefined;
  roles(): Iterable<Role>;
  /** The names of the roles bound to a user, sorted; what everybody has is not among them. */
  bound(user: string): readonly string[];
  /**
   * Names of the RoleBindings to `role` that name a user who can log in, being there, not disabled and with a password; with
   * those users, one by one as they are asked for. `binding`: of that one alone.
   */
  holders(role: string, binding?: string): Iterable<{ readonly binding: string; readonly user: string }>;
  /** Whether this user is among them. */
  isHolder(role: string, user: string): boolean;
  /**
   * The rules of the closure of `names` (dependencies followed, aggregated roles added). `changed`: as it would be with that
   * role so; undefined as its role: without it.
   */
  rulesOf(names: Iterable<string>, changed?: { readonly name: string; readonly role: Role | undefined }): readonly Rule[];
  user(name: string): UserRecord | undefined;
  token(uid: string): TokenRecord | undefined;
  session(uid: string): SessionRecord | undefined;
  /** How many tokens of this owner there are. */
  tokensOf(owner: string): number;
  /** Names of the sessions of a user. */
  sessionsOf(user: string): readonly string[];
  /** Called in the turn of a commit that changed a role, a binding, a user, a token or a session: who may be concerned. */
  subscribe(listener: (concerned: Concerned) => void): () => void;
};

/** `credentials`: users one of whose credentials has changed or ended; `rights`: somebody's rights have changed. */
export type Concerned = { readonly credentials: ReadonlySet<string>; readonly rights: boolean };

export type ApiRequest = ResourceRequest | NonResourceRequest;

/** All that one subject may do. */
export type Rights = {
  /** Holds `super-role`, in whatever way. */
  readonly isSuperAdministrator: boolean;
  /** Every role held that exists: bound, had by everybody, and followed. */
  readonly roles: ReadonlySet<string>;
  /** The first rule that allows it. `pluginOf`: the plugin whose type or route it is, asked only where a rule speaks of one. */
  find(request: ApiRequest, pluginOf: (request: ApiRequest) => string | undefined): Grant | undefined;
  /** Plugins whose type or route it would have to be for a rule to allow it: the rule speaks of the plugin. */
  pluginsFor(request: ApiRequest): ReadonlySet<string>;
  /** The first of `rules` that is not wholly within what is held here (decision 6.7). */
  lacks(rules: readonly Rule[]): Rule | undefined;
  /** All rules held. */
  rules(): readonly Rule[];
};

/** What allows something: the role and its rule. */
export type Grant = { readonly role: string; readonly rule: Rule };

/** Objects marked for deletion are in no record: what is going away counts no more. */
export type UserRecord = {
  readonly name: string;
  readonly uid: string;
  readonly isDisabled: boolean;
  /** The revision of `secret:<uid>` that holds the password's hash; undefined without a password. */
  readonly passwordRevision: number | undefined;
  /** How often they were disabled; absent for never. */
  readonly timesDisabled?: number;
};

export type TokenRecord = {
  readonly name: string;
  readonly uid: string;
  readonly owner: string;
  readonly ownerUid: string;
  readonly roles: readonly string[] | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt: number | undefined;
  readonly isRevoked: boolean;
  /** Its status says so; absent for no. It ends nothing, `expiresAt` does: but watches are asked about before they could tell it. */
  readonly isToldExpired?: true;
};

export type SessionRecord = {
  readonly name: string;
  readonly uid: string;
  readonly user: string;
  readonly userUid: string;
  /** The user's `passwordRevision` when they logged in: another password ends it. */
  readonly passwordRevision: number | undefined;
  /** The user's when they logged in: to be enabled again brings no session back. */
  readonly timesDisabled?: number;
  readonly expiresAt: number;
};
