import { roleOf } from '../../access/role-object.ts';
import type { Rule } from '../../access/rule.ts';
import { authenticatedRole, builtInRoles } from '../../access/role-names.ts';
import { refuse, type Refused } from '../../command/refuse.ts';
import { actorOf } from '../../command/subject.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import { ruleShownLengthMax } from '../../limits/access.ts';
import type { DecidedChange } from '../../write/rules.ts';
import type { PermissionReader, Rights } from '../../read/permission-reader.ts';
import { roleBindingKey, roleKey, tokenKey } from '../types/platform-types.ts';
import { roleNameOf, userNamesOf } from '../types/role-binding-type.ts';
import { tokenRolesOf } from '../types/token-type.ts';
import { affectedUsers } from './affected-users.ts';

type GrantTables = {
  readonly permissions: PermissionReader;
  readonly domain: string;
};

/**
 * Refuses a change that grants rights which the writer does not have, or that acts on a user with more rights. A change
 * of a role also requires the rights that the role granted before, because bindings outlive a deleted role. Returns
 * undefined if the change is allowed.
 */
export function refuseEscalation(change: DecidedChange, known: GrantTables): Refused | undefined {
  const { type, subject, before, after } = change;
  if (subject.kind === 'plugin' || subject.kind === 'platform') return undefined;
  const rights = known.permissions.rightsOf(subject);
  if (rights.isSuperAdministrator) return undefined;
  if (type.key === tokenKey && before === undefined)
    return after === undefined ? undefined : roleBeyond(change, after, rights);
  const unforeseeable =
    type.key === roleKey ? describeUnpredictableRole(change, known) : describeMissingRole(change, known);
  if (unforeseeable !== undefined) return forbidden(change, unforeseeable);
  const given = rights.findUncovered([
    ...rulesGrantedBefore(change, known),
    ...(after === undefined ? [] : rulesGrantedAfter(change, after, known)),
  ]);
  if (given !== undefined)
    return forbidden(change, `cannot grant permissions that the user does not have: ${shown(given)}`);
  const above = rights.findUncovered(rulesOfUsers(affectedUsers(change), change, known));
  return above === undefined
    ? undefined
    : forbidden(change, `cannot act on a user with permissions that the caller does not have: ${shown(above)}`);
}

/**
 * Returns the rules of these users. A visitor as the writer lacks the rules of all authenticated users, so the result
 * then includes these rules.
 */
function rulesOfUsers(
  users: readonly string[],
  { subject }: DecidedChange,
  { permissions }: GrantTables,
): readonly Rule[] {
  if (users.length === 0) return [];
  return permissions.rulesOf([
    ...users.flatMap((user) => permissions.boundRoles(user)),
    ...(subject.kind === 'user' ? [] : [authenticatedRole]),
  ]);
}

/** Returns the rules that a role granted before its change or deletion. */
function rulesGrantedBefore({ type, before }: DecidedChange, { permissions }: GrantTables): readonly Rule[] {
  return type.key === roleKey && before !== undefined ? permissions.rulesOf([before.metadata.name]) : [];
}

/**
 * Returns why a binding to a missing role is refused; undefined if the binding is allowed. A later role of the same
 * name may grant any rights, so no further user may be bound to the name.
 */
function describeMissingRole(change: DecidedChange, { permissions }: GrantTables): string | undefined {
  const { type, after } = change;
  if (
    type.key !== roleBindingKey ||
    after === undefined ||
    permissions.role(roleNameOf(after)) !== undefined ||
    !bindsMore(change, after)
  )
    return undefined;
  return `cannot bind to a role that does not exist: ${JSON.stringify(roleNameOf(after))}`;
}

/**
 * Returns the reason why the future rules of a role cannot be known; undefined if they can. Another user could create a
 * missing dependency or a reserved role with any rules.
 */
function describeUnpredictableRole(
  { before, after }: DecidedChange,
  { permissions, domain }: GrantTables,
): string | undefined {
  if (after === undefined) return undefined;
  const { name } = after.metadata;
  if (before === undefined && builtInRoles.has(name))
    return 'cannot create a role with this name: it is reserved for a built-in role';
  const known = new Set(before === undefined ? [] : roleOf(before, domain).dependencies);
  const missing = roleOf(after, domain).dependencies.find(
    (dependency) => !known.has(dependency) && dependency !== name && permissions.role(dependency) === undefined,
  );
  return missing === undefined ? undefined : `cannot depend on a role that does not exist: ${JSON.stringify(missing)}`;
}

/** Returns the rules that the change grants, including rules that the users already had. */
function rulesGrantedAfter(
  change: DecidedChange,
  after: ResourceObject,
  { permissions, domain }: GrantTables,
): readonly Rule[] {
  const { name } = after.metadata;
  switch (change.type.key) {
    // A role grants all rules of its closure to its holders, to dependent roles, and to roles that aggregate the role.
    case roleKey:
      return permissions.rulesOf([name], { name, role: roleOf(after, domain) });
    case roleBindingKey:
      return bindsMore(change, after) ? permissions.rulesOf([roleNameOf(after)]) : [];
    default:
      return [];
  }
}

/** Returns whether the change binds a further user to the role. */
function bindsMore({ before }: DecidedChange, after: ResourceObject): boolean {
  if (before === undefined || roleNameOf(before) !== roleNameOf(after)) return true;
  const bound = new Set(userNamesOf(before));
  return userNamesOf(after).some((name) => !bound.has(name));
}

function roleBeyond(change: DecidedChange, after: ResourceObject, { roles }: Rights): Refused | undefined {
  const lacking = tokenRolesOf(after).find((role) => !roles.has(role));
  return lacking === undefined
    ? undefined
    : forbidden(change, `cannot create a token with a role that the user does not have: ${JSON.stringify(lacking)}`);
}

/** Refuses the change in Kubernetes' wording. */
function forbidden({ type, subject, before, after }: DecidedChange, why: string): Refused {
  return refuse(
    'forbidden',
    `${type.key} ${JSON.stringify((after ?? before)?.metadata.name ?? '')} is forbidden: User ` +
      `${JSON.stringify(actorOf(subject))} ${why}`,
  );
}

function shown({ kind: _kind, ...rule }: Rule): string {
  const text = JSON.stringify(rule);
  return text.length > ruleShownLengthMax ? `${text.slice(0, ruleShownLengthMax)}…` : text;
}
