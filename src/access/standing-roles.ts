/** Roles that mean something to the platform itself, whether or not their objects are there. */

/** Whoever holds it may do everything, whatever its rules say. */
export const superRole = 'super-role';
/** Of everybody, visitors included. */
export const anonymousRole = 'anonymous';
/** Of everybody who is logged in. */
export const authenticatedRole = 'authenticated';

/** Roles that come with the platform: one that is missing is there again at the next start, with all it came with. */
export const builtInRoles: ReadonlySet<string> = new Set([
  anonymousRole, authenticatedRole, superRole, 'guest', 'post-contributor', 'post-author', 'post-editor',
  'role-template-view-users', 'role-template-manage-users', 'role-template-view-roles', 'role-template-manage-roles', 'role-template-view-plugins',
]);
