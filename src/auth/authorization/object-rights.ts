import type { Subject } from '../../command/subject.ts';
import { resourceRequest } from '../../resource/query/request-path.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { refusalOf } from './authorize.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';

/** A right on one object of a registered type. */
export type ObjectRight = {
  readonly verb: string;
  readonly type: ResourceType;
  readonly name: string;
  readonly subresource?: string;
};

/**
 * Returns a detail in the wording of a refused request if the subject lacks the right; undefined if a rule grants the
 * right.
 */
export function missingRight(
  { verb, type, ...place }: ObjectRight,
  subject: Subject,
  permissions: PermissionReader,
): string | undefined {
  const { group, version, plural, plugin } = type;
  const request = resourceRequest(verb, { group, version, resource: plural, ...place });
  const grant = permissions.rightsOf(subject).find(request, () => (plugin === 'platform' ? undefined : plugin));
  return grant === undefined ? refusalOf(subject, request) : undefined;
}
