/** The role that grants everything, whatever its Role object contains. */
export const superRole = 'super-role';
/** The role that every caller holds, including visitors. */
export const anonymousRole = 'anonymous';
/** The role that every authenticated user holds. */
export const authenticatedRole = 'authenticated';

/** The roles that ship with the platform. Each start creates missing roles. */
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
