import type { ResourceObject } from '../../resource/object/object.ts';
import type { ResourceType, Violation } from '../../resource/type/resource-type.ts';
import { memberViolations } from '../ratcheting.ts';
import { membersOf } from '../replacement.ts';

/**
 * Returns the violations of the schema and its rules by a stored object, with the defaults filled in. The object is
 * checked like a new object: no violation is tolerated, and rules that require an old object do not run.
 */
export function storedViolations(type: ResourceType, object: ResourceObject): readonly Violation[] {
  const members = membersOf(object);
  const { name, generateName } = object.metadata;
  return memberViolations(type, {
    name,
    generateName,
    members: type.fillDefaults(members) ?? members,
    current: undefined,
    part: 'main',
  });
}
