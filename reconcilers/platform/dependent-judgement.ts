import type { Steps } from '../../src/base/steps.ts';
import { foregroundFinalizer, orphanFinalizer, type Propagation } from '../../src/command/propagation.ts';
import type { OwnerReference, ResourceObject } from '../../src/resource/object/object.ts';

/** What has become of an owner. An owner is who has the uid: another object of the name is another owner. */
export type OwnerState =
  | 'living'
  | 'gone'
  /** Its type is not registered: its plugin is stopped, or was never there. */
  | 'unknown'
  /** Marked, and waiting for dependents that block it. */
  | 'foreground'
  /** Marked, and waiting for its dependents to be let go. */
  | 'orphaning';

/** One that refers to the object as its owner, and is still there. */
export type Dependent = {
  /** It says that its owner must not go before it. */
  readonly blocks: boolean;
  /** It waits, directly or through others, for the object itself to go: neither can go first. */
  readonly isCaught: boolean;
};

export type World = {
  readonly object: ResourceObject;
  readonly stateOf: (owner: OwnerReference) => OwnerState;
  /** Read bit by bit, as an owner may have very many: undefined is none, and only lets other work in. */
  readonly dependents: () => Iterable<Dependent | undefined>;
};

export type Step =
  | { readonly type: 'nothing' }
  /** It waits for an owner whose type is not registered. */
  | { readonly type: 'undecided' }
  /** Its references to these uids are removed. */
  | { readonly type: 'release'; readonly uids: ReadonlySet<string> }
  | { readonly type: 'delete'; readonly propagation: Propagation | undefined }
  /** It is marked, and its dependents have to be looked at first. */
  | { readonly type: 'wait' }
  /** What the finalizer held it for is done. */
  | { readonly type: 'finish'; readonly finalizer: string };

const nothing: Step = { type: 'nothing' };

/**
 * What is to be done about one object for the sake of its owners and its dependents (decision 3.5), one step at a time, as
 * Kubernetes' garbage collector decides it. Two differences: the references to a gone owner are removed even beside one of an
 * unknown type, and owners that wait for each other in a ring are let go, where Kubernetes lets them wait.
 */
export function* judgeDependent(world: World): Steps<Step> {
  const { metadata } = world.object;
  const owners = ownersOf(world);
  const inState = (...states: readonly OwnerState[]): readonly string[] => owners.filter(({ state }) => states.includes(state)).map(({ uid }) => uid);
  const letGo = inState('orphaning');
  if (letGo.length > 0) return { type: 'release', uids: new Set(letGo) };
  if (metadata.deletionTimestamp !== undefined) return yield* judgeMarked(world);
  if (owners.length === 0) return nothing;
  const lost = inState('gone', 'foreground');
  if (lost.length === owners.length) {
    const isAwaited = inState('foreground').length > 0 && (yield* hasAny(world.dependents()));
    return { type: 'delete', propagation: isAwaited ? 'Foreground' : undefined };
  }
  if (lost.length > 0) return { type: 'release', uids: new Set(lost) };
  return inState('unknown').length > 0 ? { type: 'undecided' } : nothing;
}

/** Each owner once: named twice, and once by a wrong name, it is there. */
function ownersOf({ object, stateOf }: World): readonly { readonly uid: string; readonly state: OwnerState }[] {
  const states = new Map<string, OwnerState>();
  for (const owner of object.metadata.ownerReferences ?? []) {
    const state = stateOf(owner);
    if (state !== 'gone' || !states.has(owner.uid)) states.set(owner.uid, state);
  }
  return [...states].map(([uid, state]) => ({ uid, state }));
}

function* judgeMarked({ object: { metadata: { finalizers = [] } }, dependents }: World): Steps<Step> {
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
