/** Roles that mean something to the platform itself, whether or not their objects are there. */

/** Whoever holds it may do everything, whatever its rules say. */
export const superRole = 'super-role';
/** Of everybody, visitors included. */
export const anonymousRole = 'anonymous';
/** Of everybody who is logged in. */
export const authenticatedRole = 'authenticated';
