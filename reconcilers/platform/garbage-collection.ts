import type { Steps } from '../../src/base/steps.ts';
import { foregroundFinalizer, orphanFinalizer, type Propagation } from '../../src/command/propagation.ts';
import type { OwnerReference, ResourceObject } from '../../src/resource/object/object.ts';

/** The state of an owner. An object with the owner's name and another uid is not the owner. */
export type OwnerState =
  | 'living'
  | 'missing'
  /** The type of the owner is not registered, because its plugin is stopped or does not exist. */
  | 'unknown'
  /** The owner is marked and waits for blocking dependents. */
  | 'foreground'
  /** The owner is marked and waits until its dependents are released. */
  | 'orphaning';

/** An existing object that names another object as its owner. */
export type Dependent = {
  /** Whether the dependent blocks the deletion of its owner. */
  readonly blocks: boolean;
  /** Whether the dependent waits, directly or indirectly, for the deletion of its own owner, in a cycle. */
  readonly isCaught: boolean;
};

export type World = {
  readonly object: ResourceObject;
  readonly stateOf: (owner: OwnerReference) => OwnerState;
  /**
   * Returns the dependents, read incrementally, since an owner may have very many. At an `undefined` element, other
   * work may run.
   */
  readonly dependents: () => Iterable<Dependent | undefined>;
};

export type CollectionStep =
  | { readonly type: 'nothing' }
  /** The object waits for an owner of an unregistered type. */
  | { readonly type: 'undecided' }
  /** The object's references to these uids must be removed. */
  | { readonly type: 'release'; readonly uids: ReadonlySet<string> }
  | { readonly type: 'delete'; readonly propagation: Propagation | undefined }
  /** The object is marked, and its dependents must be processed first. */
  | { readonly type: 'wait' }
  /** The finalizer must be removed from the object, since its work is done. */
  | { readonly type: 'finish'; readonly finalizer: string };

const nothing: CollectionStep = { type: 'nothing' };

/**
 * Decides the next step for one object with regard to its owners and dependents (decision 3.5), like the garbage
 * collector of Kubernetes. Two cases differ:
 *
 * - References to a deleted owner are removed even if the type of another owner is unknown.
 * - Owners that wait for each other in a cycle are released, while Kubernetes lets them wait.
 */
export function* decideDependent(world: World): Steps<CollectionStep> {
  const { metadata } = world.object;
  const owners = ownersOf(world);
  const inState = (...states: readonly OwnerState[]): readonly string[] =>
    owners.filter(({ state }) => states.includes(state)).map(({ uid }) => uid);
  const orphaned = inState('orphaning');
  if (orphaned.length > 0) return { type: 'release', uids: new Set(orphaned) };
  if (metadata.deletionTimestamp !== undefined) return yield* decideMarked(world);
  if (owners.length === 0) return nothing;
  const ended = inState('missing', 'foreground');
  if (ended.length === owners.length) {
    const isAwaited = inState('foreground').length > 0 && (yield* hasAny(world.dependents()));
    return { type: 'delete', propagation: isAwaited ? 'Foreground' : undefined };
  }
  if (ended.length > 0) return { type: 'release', uids: new Set(ended) };
  return inState('unknown').length > 0 ? { type: 'undecided' } : nothing;
}

type OwnerWithState = {
  readonly uid: string;
  readonly state: OwnerState;
};

/**
 * The owners with their states, each uid once. If references with one uid have several states, a state other than
 * `missing` counts.
 */
function ownersOf({ object, stateOf }: World): readonly OwnerWithState[] {
  const states = new Map<string, OwnerState>();
  for (const owner of object.metadata.ownerReferences ?? []) {
    const state = stateOf(owner);
    if (state !== 'missing' || !states.has(owner.uid)) states.set(owner.uid, state);
  }
  return [...states].map(([uid, state]) => ({ uid, state }));
}

function* decideMarked({
  object: {
    metadata: { finalizers = [] },
  },
  dependents,
}: World): Steps<CollectionStep> {
  if (finalizers.includes(orphanFinalizer)) {
    return (yield* hasAny(dependents())) ? { type: 'wait' } : { type: 'finish', finalizer: orphanFinalizer };
  }
  if (!finalizers.includes(foregroundFinalizer)) return nothing;
  for (const dependent of dependents()) {
    if (dependent?.blocks === true && !dependent.isCaught) return { type: 'wait' };
    yield;
  }
  return { type: 'finish', finalizer: foregroundFinalizer };
}

function* hasAny(dependents: Iterable<Dependent | undefined>): Steps<boolean> {
  for (const dependent of dependents) {
    if (dependent !== undefined) return true;
    yield;
  }
  return false;
}
