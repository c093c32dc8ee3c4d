import type { ResourceObject } from '../../resource/object/object.ts';
import type { DecidedChange } from '../../write/rules.ts';
import { roleBindingKey, sessionKey, tokenKey, userKey } from '../types/platform-types.ts';
import { roleNameOf, userNamesOf } from '../types/role-binding-type.ts';
import { membersAt } from '../types/type-members.ts';

/**
 * Returns the users that may lose rights by a change: the written user, the owner of a changed or deleted token or
 * session, and users that lose a role. `refuseEscalation` separately checks the rights that users gain.
 */
export function affectedUsers({ type, before, after }: DecidedChange): readonly string[] {
  const object = after ?? before;
  switch (type.key) {
    case userKey:
      return object === undefined ? [] : [object.metadata.name];
    case roleBindingKey:
      return before === undefined ? [] : unbound(before, after);
    case tokenKey:
      return textOf(before, 'owner');
    case sessionKey:
      return textOf(before, 'user');
    default:
      return [];
  }
}

function unbound(before: ResourceObject, after: ResourceObject | undefined): readonly string[] {
  const kept = new Set(after !== undefined && roleNameOf(after) === roleNameOf(before) ? userNamesOf(after) : []);
  return userNamesOf(before).filter((user) => !kept.has(user));
}

function textOf(object: ResourceObject | undefined, member: string): readonly string[] {
  const value = membersAt(object, 'spec')[member];
  return typeof value === 'string' ? [value] : [];
}
