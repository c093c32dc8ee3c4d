import type { Steps } from '../../src/base/steps.ts';
import { foregroundFinalizer, orphanFinalizer, type Propagation } from '../../src/command/propagation.ts';
import type { OwnerReference, ResourceObject } from '../../src/resource/object/object.ts';

/** The state of an owner, identified by its uid: another object of the same name is another owner. */
export type OwnerState =
  | 'living'
  | 'missing'
  /** Its type is not registered: its plugin is stopped or does not exist. */
  | 'unknown'
  /** Marked, and waiting for blocking dependents. */
  | 'foreground'
  /** Marked, and waiting until its dependents are released. */
  | 'orphaning';

/** An existing object that refers to the object as its owner. */
export type Dependent = {
  /** It blocks the deletion of its owner. */
  readonly blocks: boolean;
  /** It waits, directly or indirectly, for the deletion of the object itself: a cycle. */
  readonly isCaught: boolean;
};

export type World = {
  readonly object: ResourceObject;
  readonly stateOf: (owner: OwnerReference) => OwnerState;
  /** Read incrementally, since an owner may have very many: undefined only yields. */
  readonly dependents: () => Iterable<Dependent | undefined>;
};

export type CollectionStep =
  | { readonly type: 'nothing' }
  /** It waits for an owner of an unregistered type. */
  | { readonly type: 'undecided' }
  /** Removes its references to these uids. */
  | { readonly type: 'release'; readonly uids: ReadonlySet<string> }
  | { readonly type: 'delete'; readonly propagation: Propagation | undefined }
  /** It is marked, and its dependents must be handled first. */
  | { readonly type: 'wait' }
  /** Removes this finalizer, since its work is done. */
  | { readonly type: 'finish'; readonly finalizer: string };

const nothing: CollectionStep = { type: 'nothing' };

/**
 * The next step for one object with regard to its owners and dependents (decision 3.5), as in Kubernetes' garbage
 * collector. Two differences: references to a deleted owner are removed even beside an owner of unknown type, and
 * owners that wait for each other in a cycle are released, while Kubernetes lets them wait.
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

/** Each owner once: if one of two references to the same uid has a wrong name, the owner exists. */
function ownersOf({ object, stateOf }: World): readonly { readonly uid: string; readonly state: OwnerState }[] {
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
