import type { ResourceObject } from '../../resource/object/object.ts';
import { hasFunctions } from '../../resource/type/versions/convert.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { storedHookViolations, type StoredViolation } from '../hooks/hooks.ts';
import { memberViolations } from '../ratcheting.ts';
import { membersOf } from '../replacement.ts';

/**
 * Returns the violations of the schema and its rules by a stored object, with the defaults filled in; without such
 * violations, those of the hook `validate`. The object is checked like a new object: no violation is tolerated, and
 * rules that require an old object do not run. `now` is the time that the hook receives.
 */
export function storedViolations(type: ResourceType, object: ResourceObject, now: string): readonly StoredViolation[] {
  const members = membersOf(object);
  const { name, generateName } = object.metadata;
  const filled = type.fillDefaults(members) ?? members;
  const violations = memberViolations(type, { name, generateName, members: filled, current: undefined, part: 'main' });
  return violations.length > 0 ? violations : storedHookViolations({ ...object, ...filled }, type, now);
}

/** Returns whether the check of a stored object calls code of the plugin, which may not return. */
export function callsPlugin({ hooks, versions }: ResourceType): boolean {
  return hooks?.validate !== undefined || (versions !== undefined && hasFunctions(versions));
}
