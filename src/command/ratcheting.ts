import { deepEqual } from '../base/json.ts';
import { valueAt } from '../resource/object/json-pointer.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType, SchemaViolation, Violation } from '../resource/type/resource-type.ts';
import type { Part } from './command.ts';
import { membersOf } from './replacement.ts';

type Members = Readonly<Record<string, unknown>>;

export type Change = {
  /** The object's members after the write, other than apiVersion, kind and metadata. */
  readonly members: Members;
  /** The stored object; undefined for a create. */
  readonly current: ResourceObject | undefined;
  readonly part: Part;
};

/**
 * The violations of the schema that a write brings in (Kubernetes' ratcheting). A type's schema may become stricter
 * than its stored objects: a fault that the stored object had in the same way, in a value that the write leaves as it
 * is, does not refuse the write. A write of the status is refused for faults of the status alone.
 *
 * Only complete lists of violations are compared: of a very large object each fault counts as new.
 */
export function schemaViolations(type: ResourceType, { members, current, part }: Change): readonly SchemaViolation[] {
  const { found, isComplete } = part === 'status' ? type.checkStatus(members) : type.check(members);
  if (found.length === 0 || current === undefined) return found;
  const concerned = part === 'status' ? found.filter(isOfStatus) : found;
  const before = isComplete && concerned.length > 0 ? type.check(membersOf(current)) : undefined;
  if (before?.isComplete !== true) return concerned;
  return newViolations(concerned, before.found, { before: membersOf(current), after: members, part });
}

/** Whether a write of the status is responsible for the violation: it is in the status, or of the whole object. */
export function isOfStatus({ pointer }: Violation): boolean {
  return pointer === '' || pointer === '/status' || pointer.startsWith('/status/');
}

type Values = { readonly before: Members; readonly after: Members; readonly part: Part };

/** The violations that were not there before, with the same pointer, the same detail and an equal value. */
function newViolations<Found extends Violation>(
  found: readonly Found[],
  earlier: readonly Violation[],
  { before, after, part }: Values,
): readonly Found[] {
  const known = new Set(earlier.map(keyOf));
  return found.filter((violation) => {
    if (!known.has(keyOf(violation))) return true;
    // The status is a part of the whole object, so the value of the whole object has always changed.
    if (part === 'status' && violation.pointer === '') return false;
    return !deepEqual(valueAt(before, violation.pointer), valueAt(after, violation.pointer));
  });
}

function keyOf({ pointer, detail }: Violation): string {
  return `${pointer}\n${detail}`;
}
