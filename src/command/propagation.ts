/** What becomes of an object's dependents when it is deleted, as Kubernetes' DeleteOptions say it. */
export type Propagation =
  /** They are deleted once it is gone. */
  | 'Background'
  /** They stay, and their references to it are removed before it goes. */
  | 'Orphan'
  /** Those that block its deletion are gone before it is. */
  | 'Foreground';

/** The finalizers that keep an object until that has been done, by the names Kubernetes' clients know. */
export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

const finalizerOf = { Background: undefined, Orphan: orphanFinalizer, Foreground: foregroundFinalizer } as const satisfies Record<Propagation, string | undefined>;

/**
 * The finalizers of an object that is marked now. A policy takes the place of what the object's own finalizers said; without
 * one they stand, as with Kubernetes. `held`: what the platform itself has to do before such an object may go.
 */
export function markedFinalizers(finalizers: readonly string[] = [], propagation: Propagation | undefined, held: readonly string[] = []): readonly string[] {
  if (propagation === undefined) return [...new Set([...finalizers, ...held])];
  const chosen = finalizerOf[propagation];
  const others = finalizers.filter((finalizer) => finalizer === chosen || (finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer));
  return [...new Set([...others, ...chosen === undefined ? [] : [chosen], ...held])];
}
