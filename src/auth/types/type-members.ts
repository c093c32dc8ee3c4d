import { invalid, type Refused } from '../../command/refuse.ts';
import { nameLengthMax } from '../../limits/objects.ts';
import type { ResourceObject } from '../../resource/object.ts';
import type { Violation } from '../../resource/resource-type.ts';
import { isMembers } from '../../resource/schema-check.ts';

/** What the platform's own types have in common. They are of the core group, so no plugin can declare one of them. */
export const core = { group: '', version: 'v1alpha1' } as const;

/** `metadata.name` of some object. */
export const nameSchema = { type: 'string', minLength: 1, maxLength: nameLengthMax, pattern: '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$' } as const;

export type Members = Readonly<Record<string, unknown>>;

/** A member that is an object; empty when it is missing. */
export function membersAt(object: Members | undefined, member: string): Members {
  const value = object?.[member];
  return isMembers(value) ? value : {};
}

/** `members` without those that are undefined: JSON has none, and what is stored is compared with it. */
export function defined(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** The object with this status, or without one when it would be empty. */
export function withStatus({ status: _replaced, ...object }: ResourceObject, status: Members): ResourceObject {
  return Object.keys(status).length === 0 ? object : { ...object, status };
}

export function broken({ kind, metadata: { name } }: ResourceObject, violations: readonly Violation[]): Refused {
  return invalid({ kind, group: core.group }, name, violations);
}
