import { isObject } from '../../base/guards.ts';
import { invalid, type Refused } from '../../command/refuse.ts';
import { nameLengthMax } from '../../limits/objects.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { Violation } from '../../resource/type/resource-type.ts';

/** Members shared by the platform's types. Their group is the core group, so no plugin can declare them. */
export const core = { group: '', version: 'v1alpha1' } as const;

/** The schema of an object's `metadata.name`. */
export const nameSchema = {
  type: 'string',
  minLength: 1,
  maxLength: nameLengthMax,
  pattern: '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$',
} as const;

export type Members = Readonly<Record<string, unknown>>;

/** A member that is an object; empty when it is absent. */
export function membersAt(object: Members | undefined, member: string): Members {
  const value = object?.[member];
  return isObject(value) ? value : {};
}

/** `members` without undefined values: JSON has no such values, and the result is compared with stored JSON. */
export function defined(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** The object with this status; without the member if the status would be empty. */
export function withStatus({ status: _replaced, ...object }: ResourceObject, status: Members): ResourceObject {
  return Object.keys(status).length === 0 ? object : { ...object, status };
}

export function refuseViolations(
  { kind, metadata: { name } }: ResourceObject,
  violations: readonly Violation[],
): Refused {
  return invalid({ kind, group: core.group }, name, violations);
}
