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

type GrantTables = { readonly permissions: PermissionReader; readonly domain: string };

/**
 * Refuses a change that grants rights which the writer does not hold, or that acts on a user with more rights than the
 * writer. A change of a role also requires the rights that the role grants before the change: bindings outlive a
 * deleted role, and would grant whatever a later role of that name contains. Undefined: the change is allowed.
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
  if (given !== undefined) return forbidden(change, `cannot grant permissions they do not have: ${shown(given)}`);
  const above = rights.findUncovered(rulesOfUsers(affectedUsers(change), change, known));
  return above === undefined
    ? undefined
    : forbidden(change, `cannot act on a user with more permissions than their own: ${shown(above)}`);
}

/** The rules of these users, including those of the role of all authenticated users, which a visitor does not have. */
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

/** The rules that a role granted before this change or deletion. */
function rulesGrantedBefore({ type, before }: DecidedChange, { permissions }: GrantTables): readonly Rule[] {
  return type.key === roleKey && before !== undefined ? permissions.rulesOf([before.metadata.name]) : [];
}

/**
 * The refusal of a binding to a missing role. A binding outlives its role, and a later role of that name may grant
 * anything; until then nobody else may be bound to the name.
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
 * The reason why the rules that a role would grant are unknown: another user may add rules to it, or to a role that it
 * depends on.
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

/** The rules that users hold after this change, whether or not they held them before. */
function rulesGrantedAfter(
  change: DecidedChange,
  after: ResourceObject,
  { permissions, domain }: GrantTables,
): readonly Rule[] {
  const { name } = after.metadata;
  switch (change.type.key) {
    // A role grants its whole closure to its holders, and to roles that depend on it or aggregate it.
    case roleKey:
      return permissions.rulesOf([name], { name, role: roleOf(after, domain) });
    case roleBindingKey:
      return bindsMore(change, after) ? permissions.rulesOf([roleNameOf(after)]) : [];
    default:
      return [];
  }
}

/** Whether the change binds a further user to the role. Removing a subject grants nothing. */
function bindsMore({ before }: DecidedChange, after: ResourceObject): boolean {
  if (before === undefined || roleNameOf(before) !== roleNameOf(after)) return true;
  const bound = new Set(userNamesOf(before));
  return userNamesOf(after).some((name) => !bound.has(name));
}

function roleBeyond(change: DecidedChange, after: ResourceObject, { roles }: Rights): Refused | undefined {
  const lacking = tokenRolesOf(after).find((role) => !roles.has(role));
  return lacking === undefined
    ? undefined
    : forbidden(change, `cannot give a token a role they do not have: ${JSON.stringify(lacking)}`);
}

/** The refusal in Kubernetes' wording: the object first, then the user and the reason. */
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
