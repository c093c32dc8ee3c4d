import type { Subject } from '../../command/subject.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';

/**
 * The subject with all rights of a user that another request names. A name without a User object is assumed to belong
 * to an identity provider: it has the roles bound to the name and those of all authenticated users.
 */
export function subjectNamed(permissions: Pick<PermissionReader, 'user'>, name: string): Subject {
  const user = permissions.user(name);
  const credential =
    user === undefined
      ? ({ kind: 'oidc', expiresAt: Number.MAX_SAFE_INTEGER } as const)
      : ({ kind: 'password', uid: user.uid } as const);
  return { kind: 'user', name, credential };
}
