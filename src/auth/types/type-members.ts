import { isObject } from '../../base/guards.ts';
import { invalid, type Refused } from '../../command/refuse.ts';
import { subjectNameLengthMax } from '../../limits/access.ts';
import { nameLengthMax } from '../../limits/objects.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { Violation } from '../../resource/type/resource-type.ts';

/** The group and version of the platform's types. No plugin can declare types in the core group. */
export const core = { group: '', version: 'v1alpha1' } as const;

/** The schema of an object's `metadata.name`. */
export const nameSchema = {
  type: 'string',
  minLength: 1,
  maxLength: nameLengthMax,
  pattern: '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$',
} as const;

/** The schema of a user's name, including the names of users of the identity provider. */
export const subjectNameSchema = {
  type: 'string',
  minLength: 1,
  maxLength: subjectNameLengthMax,
  pattern: '^(?:oidc:[^\\u0000-\\u001f\\u007f]+|[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)$',
  description: 'A user name, or oidc:<name> for a user of the identity provider.',
} as const;

export type Members = Readonly<Record<string, unknown>>;

/** Returns the value of a member that is an object; an empty object without such a value. */
export function membersAt(object: Members | undefined, member: string): Members {
  const value = object?.[member];
  return isObject(value) ? value : {};
}

/** Returns `members` without undefined values, which JSON does not have. */
export function defined(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Returns the object with this status; without the member `status` if the status is empty. */
export function withStatus({ status: _replaced, ...object }: ResourceObject, status: Members): ResourceObject {
  return Object.keys(status).length === 0 ? object : { ...object, status };
}

export function refuseViolations(
  { kind, metadata: { name } }: ResourceObject,
  violations: readonly Violation[],
): Refused {
  return invalid({ kind, group: core.group }, name, violations);
}
