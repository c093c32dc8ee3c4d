import { isObject } from '../../base/guards.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { StoredViolation } from '../hooks/hooks.ts';
import { migrate, type MigrationStep } from './migrate.ts';
import { storedViolations } from './stored-violations.ts';

export type PendingStep = {
  readonly id: string;
  readonly up: MigrationStep;
};

/** A step that fails for an object. `thrown` is the value that the step threw. */
export type StepFailure = { readonly problem: string; readonly thrown?: unknown };

/** The violations of a stored object after the steps, and the ids of the steps that change the object. */
export type MigratedViolations = {
  readonly violations: readonly StoredViolation[];
  /** The first failure of a step. No violations are then known, and later steps do not run. */
  readonly failure: StepFailure | undefined;
  readonly changedBy: readonly string[];
};

export function migratedViolations(
  type: ResourceType,
  object: ResourceObject,
  { steps, now }: { readonly steps: readonly PendingStep[]; readonly now: string },
): MigratedViolations {
  const changedBy: string[] = [];
  let current = object;
  for (const { id, up } of steps) {
    const migrated = migrate(up, current);
    if (!migrated.ok) {
      const { problem, thrown } = migrated;
      return { violations: [], failure: { problem: `the migration ${id} ${problem}`, thrown }, changedBy };
    }
    if (!isStored(migrated.object)) continue;
    changedBy.push(id);
    current = migrated.object;
  }
  return { violations: storedViolations(type, current, now), failure: undefined, changedBy };
}

/** `migrate` has checked that the object has the same identity and managed metadata. */
function isStored(object: unknown): object is ResourceObject {
  return isObject(object) && isObject(object['metadata']);
}
