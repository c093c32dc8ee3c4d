import type { Subject } from '../command/subject.ts';
import type { PermissionReader } from './permission-reader.ts';

/**
 * A user who does not ask themselves, with all their rights. A name without a User object is taken for one an identity
 * provider vouches for: what is bound to the name, and what everybody logged in has.
 */
export function subjectNamed(permissions: Pick<PermissionReader, 'user'>, name: string): Subject {
  const user = permissions.user(name);
  const credential = user === undefined ? { kind: 'oidc', expiresAt: Number.MAX_SAFE_INTEGER } as const : { kind: 'password', uid: user.uid } as const;
  return { kind: 'user', name, credential };
}
