/** Roles with a meaning for the platform itself, whether or not their objects exist. */

/** Its holders may do everything, whatever its rules are. */
export const superRole = 'super-role';
/** Held by everybody, visitors included. */
export const anonymousRole = 'anonymous';
/** Held by all authenticated users. */
export const authenticatedRole = 'authenticated';

/** Roles that ship with the platform. A start restores a missing one, with its shipped content. */
export const builtInRoles: ReadonlySet<string> = new Set([
  anonymousRole,
  authenticatedRole,
  superRole,
  'guest',
  'post-contributor',
  'post-author',
  'post-editor',
  'role-template-view-users',
  'role-template-manage-users',
  'role-template-view-roles',
  'role-template-manage-roles',
  'role-template-view-plugins',
  'role-template-audit-viewer',
]);
