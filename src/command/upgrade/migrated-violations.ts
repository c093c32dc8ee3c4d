import { isObject } from '../../base/guards.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { ResourceType, Violation } from '../../resource/type/resource-type.ts';
import { migrate, type MigrationStep } from './migrate.ts';
import { storedViolations } from './stored-violations.ts';

export type PendingStep = {
  readonly id: string;
  readonly up: MigrationStep;
};

/**
 * The violations that a stored object will have after the steps, and the ids of the steps that change it. A step that
 * fails is a violation of the whole object.
 */
export function migratedViolations(
  type: ResourceType,
  object: ResourceObject,
  steps: readonly PendingStep[],
): { readonly violations: readonly Violation[]; readonly changedBy: readonly string[] } {
  const changedBy: string[] = [];
  let current = object;
  for (const { id, up } of steps) {
    const migrated = migrate(up, current);
    if (!migrated.ok)
      return { violations: [{ pointer: '', detail: `the migration ${id} ${migrated.problem}` }], changedBy };
    if (!isStored(migrated.object)) continue;
    changedBy.push(id);
    current = migrated.object;
  }
  return { violations: storedViolations(type, current), changedBy };
}

/** A step keeps the identity and the managed metadata of the object. */
function isStored(object: unknown): object is ResourceObject {
  return isObject(object) && isObject(object['metadata']);
}
