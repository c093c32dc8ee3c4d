/** The role that grants everything to its holders, regardless of the rules in its Role object. */
export const superRole = 'super-role';
/** The role that every caller holds, including visitors. */
export const anonymousRole = 'anonymous';
/** The role that every authenticated user holds. */
export const authenticatedRole = 'authenticated';

/** The roles that ship with the platform. At each start, missing roles are created with their shipped content. */
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
  'role-template-backup',
  'role-template-view-operation',
]);
