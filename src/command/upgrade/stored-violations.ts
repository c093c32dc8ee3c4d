import type { ResourceObject } from '../../resource/object/object.ts';
import type { ResourceType, Violation } from '../../resource/type/resource-type.ts';
import { memberViolations } from '../ratcheting.ts';
import { membersOf } from '../replacement.ts';

/**
 * Returns the violations of a stored object against the schema of `type` and its rules, after the defaults are filled
 * in. No violation is tolerated, as for an object that is created. Rules that compare with an old object do not run.
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
