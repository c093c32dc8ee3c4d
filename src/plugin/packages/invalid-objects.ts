import { stackOf } from '../../base/error-message.ts';
import type { StoredViolation } from '../../command/hooks/hooks.ts';
import type { StepFailure } from '../../command/upgrade/migrated-violations.ts';
import { invalidErrorsShownMax, invalidObjectsShownMax, upgradeDetailLengthMax } from '../../limits/plugins.ts';
import type { ResourceType, Violation } from '../../resource/type/resource-type.ts';
import type { MountedMigration } from '../api/migration-mounts.ts';
import { functionStack } from '../errors/function-place.ts';

export type InvalidObject = {
  readonly type: string;
  readonly name: string;
  readonly errors: readonly Violation[];
};

/** Returns a place in a stack, in the form ` (at <file>:<line>)`. */
type PlaceOf = (stack: string) => string;

/** The first objects that a new version of a plugin cannot use. */
export class InvalidObjects {
  readonly first: InvalidObject[] = [];
  readonly #placeOf: PlaceOf;

  constructor(placeOf: PlaceOf) {
    this.#placeOf = placeOf;
  }

  /**
   * Adds a failure. `steps`: the migrations that ran. A failure without a thrown error gets the place of its migration.
   */
  fail(type: ResourceType, name: string, { problem, thrown }: StepFailure, steps: readonly MountedMigration[]): void {
    if (this.first.length >= invalidObjectsShownMax) return;
    const failed = steps.find(({ id }) => problem.startsWith(`the migration ${id} `));
    const place = this.#placeOf(stackOf(thrown) ?? functionStack(failed?.declared));
    const detail = `${problem.slice(0, upgradeDetailLengthMax)}${place}`;
    this.first.push({ type: type.key, name, errors: [{ pointer: '', detail }] });
  }

  add(type: ResourceType, name: string, violations: readonly StoredViolation[]): void {
    if (this.first.length >= invalidObjectsShownMax) return;
    const errors = violations.slice(0, invalidErrorsShownMax).map(({ pointer, detail, thrown }) => ({
      pointer: pointer.slice(0, upgradeDetailLengthMax),
      detail: `${detail.slice(0, upgradeDetailLengthMax)}${this.#placeOf(stackOf(thrown) ?? '')}`,
    }));
    this.first.push({ type: type.key, name, errors });
  }
}
