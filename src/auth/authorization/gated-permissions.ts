import type { PermissionReader } from '../../read/permission-reader.ts';

/** The part of the permission tables that checks credentials and rights. */
export type GatedPermissions = Pick<
  PermissionReader,
  'isReady' | 'rightsOf' | 'user' | 'token' | 'session' | 'subscribe'
>;

/**
 * Wraps the permission tables, which are not ready before `isAdministered` returns true. Otherwise, the first
 * administrator's correct password could be refused as wrong.
 */
export function gatePermissions(permissions: PermissionReader, isAdministered: () => boolean): GatedPermissions {
  return {
    isReady: () => isAdministered() && permissions.isReady(),
    rightsOf: (subject) => permissions.rightsOf(subject),
    user: (name) => permissions.user(name),
    token: (uid) => permissions.token(uid),
    session: (uid) => permissions.session(uid),
    subscribe: (listener) => permissions.subscribe(listener),
  };
}
