import { anonymousRole, authenticatedRole, superRole } from '../../access/role-names.ts';
import { refuse, type Refused } from '../../command/refuse.ts';
import type { Subject } from '../../command/subject.ts';
import { typeKeyOf } from '../../resource/type/type-declaration.ts';
import type { DecidedChange, RuleCheck, WriteRules } from '../../write/rules.ts';
import { refuseEscalation } from './grant-checks.ts';
import { SuperAdministratorGuard } from './grant-holders.ts';
import { missingRight } from './object-rights.ts';
import { notReady, checkOwnerRights, type TypeOfKind } from './owner-checks.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { platformTypes, roleBindingKey, roleKey } from '../types/platform-types.ts';
import { roleNameOf } from '../types/role-binding-type.ts';
import { TokenQuota } from '../authentication/token-quota.ts';
import { refuseViolations } from '../types/type-members.ts';

const permitted: RuleCheck = { ok: true };

export type GrantRulesDependencies = {
  readonly permissions: PermissionReader;
  readonly domain: string;
  readonly typeOfKind: TypeOfKind;
};

/**
 * Creates the rules for writes of the access control types (decision 6.7). A user can neither grant rights that the
 * user does not have, nor act on a user with more rights. The super administrator role cannot change and always has a
 * holder. For all types, the rules check changes of owner references.
 */
export function createGrantRules({ permissions, domain, typeOfKind }: GrantRulesDependencies): WriteRules {
  const strategies = new Map(
    platformTypes(domain).map(({ declaration: { group, plural }, strategy }) => [typeKeyOf(group, plural), strategy]),
  );
  const superAdministratorGuard = new SuperAdministratorGuard(permissions);
  const tokens = new TokenQuota(permissions);
  return {
    // Details name objects only for users and visitors. A plugin may pass details on to its callers, and details for
    // the platform may appear in a Plugin's status.
    mayName: (subject, type, name) =>
      (subject.kind === 'user' || subject.kind === 'visitor') &&
      permissions.isReady() &&
      missingRight({ verb: 'get', type, name }, subject, permissions) === undefined,
    needsLastGrants: (type, subject) => strategies.has(type) && !isPlatformsOwn(subject),
    strategyOf: (type) => strategies.get(type),
    check: (change) => {
      const unowned = checkOwnerRights(change, { permissions, typeOfKind });
      if (unowned !== undefined) return unowned;
      if (!strategies.has(change.type.key) || isPlatformsOwn(change.subject)) return permitted;
      const standing = refuseBuiltInRoleChange(change);
      if (standing !== undefined) return standing;
      if (!permissions.isReady()) return change.subject.kind === 'plugin' ? permitted : notReady;
      return (
        (change.subject.kind === 'platform' ? undefined : refuseMissingRole(change, permissions)) ??
        refuseEscalation(change, { permissions, domain }) ??
        tokens.check(change) ??
        superAdministratorGuard.check(change)
      );
    },
  };
}

/**
 * Parts of the platform that act for the author of an object. The rules apply to their writes, so that these parts
 * cannot remove the last super administrator.
 */
const onBehalf: ReadonlySet<string> = new Set(['owner-references', 'bindings', 'plugins']);

function isPlatformsOwn(subject: Subject): boolean {
  return subject.kind === 'platform' && !onBehalf.has(subject.part);
}

/**
 * Refuses to create, change or delete the super administrator role. Refuses to delete the roles `anonymous` and
 * `authenticated`, and refuses a visitor's changes of these two roles.
 */
function refuseBuiltInRoleChange({ type, subject, before, after }: DecidedChange): Refused | undefined {
  const { name = '' } = (after ?? before)?.metadata ?? {};
  if (type.key !== roleKey) return undefined;
  if (name === superRole)
    return refuseRoleChange(name, 'the super administrator role cannot be created, changed or deleted');
  if (name !== anonymousRole && name !== authenticatedRole) return undefined;
  if (after === undefined)
    return refuseRoleChange(name, 'every authenticated user has this role, so it can be changed but not deleted');
  return subject.kind === 'visitor'
    ? refuseRoleChange(name, 'only an authenticated user can change this role')
    : undefined;
}

function refuseRoleChange(role: string, why: string): Refused {
  return refuse('forbidden', `roles "${role}" is forbidden: ${why}`);
}

/**
 * Refuses a binding to a role that does not exist. An existing binding to a deleted role can still be changed in other
 * respects.
 */
function refuseMissingRole({ type, before, after }: DecidedChange, permissions: PermissionReader): Refused | undefined {
  if (type.key !== roleBindingKey || after === undefined) return undefined;
  const role = roleNameOf(after);
  if ((before !== undefined && roleNameOf(before) === role) || permissions.role(role) !== undefined) return undefined;
  return refuseViolations(after, [
    { pointer: '/roleRef/name', detail: `the role ${JSON.stringify(role)} does not exist` },
  ]);
}
