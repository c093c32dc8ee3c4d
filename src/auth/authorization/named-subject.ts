import type { Subject } from '../../command/subject.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';

/**
 * Returns a subject with all rights of the user `name`, for a request of another caller about this user. A name without
 * a User object stands for a user of the identity provider.
 */
export function subjectNamed(permissions: Pick<PermissionReader, 'user'>, name: string): Subject {
  const user = permissions.user(name);
  const credential =
    user === undefined
      ? ({ kind: 'oidc', expiresAt: Number.MAX_SAFE_INTEGER } as const)
      : ({ kind: 'password', uid: user.uid } as const);
  return { kind: 'user', name, credential };
}
