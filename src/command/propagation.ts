import { addFinalizers, removeFinalizers } from '../resource/object/finalizers.ts';

/** What happens to the dependents of a deleted object, as in Kubernetes' DeleteOptions. */
export type Propagation =
  /** Dependents are deleted after the object. */
  | 'Background'
  /** Dependents are kept. Before the object is removed, the dependents' references to the object are removed. */
  | 'Orphan'
  /**
   * Dependents that block the deletion are deleted before the object. Other dependents are deleted after the object.
   */
  | 'Foreground';

/** The finalizers of the policies Orphan and Foreground, with their names in Kubernetes. */
export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

const finalizerOf = {
  Background: undefined,
  Orphan: orphanFinalizer,
  Foreground: foregroundFinalizer,
} as const satisfies Record<Propagation, string | undefined>;

/**
 * Returns the finalizers of an object that is marked. The finalizer of the policy replaces the finalizers of other
 * policies. Without a policy, the finalizers are kept, as in Kubernetes. `held` contains finalizers for the platform's
 * own cleanup.
 */
export function markedFinalizers(
  finalizers: readonly string[] = [],
  propagation: Propagation | undefined,
  held: readonly string[] = [],
): readonly string[] {
  if (propagation === undefined) return addFinalizers(finalizers, held);
  const chosen = finalizerOf[propagation];
  const replaced = [orphanFinalizer, foregroundFinalizer].filter((finalizer) => finalizer !== chosen);
  const others = removeFinalizers(finalizers, replaced);
  return addFinalizers(others, chosen === undefined ? held : [chosen, ...held]);
}
