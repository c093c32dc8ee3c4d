import type { Steps } from '../src/base/steps.ts';
import { foregroundFinalizer, orphanFinalizer } from '../src/command/propagation.ts';
import type { ObjectReader } from '../src/read/objects.ts';
import { typeKey, type TypeKey } from '../src/resource/type/index-entry.ts';
import { nameProblem } from '../src/resource/type/names.ts';
import type { OwnerReference, ResourceObject } from '../src/resource/object/object.ts';
import { groupOf, isReferenceTo } from '../src/resource/object/owner-reference.ts';
import type { ResourceType } from '../src/resource/type/resource-type.ts';
import { storedObject } from '../src/resource/object/shown-object.ts';
import type { Dependent, OwnerState } from './platform/garbage-collection.ts';
import { ownerCycleObjectsMax } from './platform/platform-limits.ts';
import { readObject } from './platform/platform-reads.ts';
import type { Read } from './platform/platform-writes.ts';
import type { Referrers } from './platform/reference-index.ts';

export type OwnerGraphDependencies = {
  readonly reader: ObjectReader;
  readonly types: (key: TypeKey) => ResourceType | undefined;
  /** Finds a type by group and kind, in any version. */
  readonly typeOfKind: (group: string, kind: string) => ResourceType | undefined;
};

/** The owners and dependents of objects in the reader. The key of an object is `<type>/<name>`. */
export class OwnerGraph {
  readonly #owned: Referrers;
  readonly #reader: ObjectReader;
  readonly #types: OwnerGraphDependencies['types'];
  readonly #typeOfKind: OwnerGraphDependencies['typeOfKind'];
  /** The owner that was read last, cached because dependents of one owner are usually processed consecutively. */
  #lastOwner: { readonly key: string; readonly revision: number; readonly object: ResourceObject } | undefined;

  constructor(owned: Referrers, { reader, types, typeOfKind }: OwnerGraphDependencies) {
    this.#owned = owned;
    this.#reader = reader;
    this.#types = types;
    this.#typeOfKind = typeOfKind;
  }

  read(key: string): Read | undefined {
    const slash = key.indexOf('/');
    const type = this.#types(typeKey(key.slice(0, slash)));
    return type === undefined ? undefined : readObject(this.#reader, type, key.slice(slash + 1));
  }

  stateOf({ apiVersion, kind, name, uid }: OwnerReference): OwnerState {
    if (this.#owned.isDeleted(uid)) return 'missing';
    const type = this.#typeOfKind(groupOf(apiVersion), kind);
    if (type === undefined) return 'unknown';
    const owner = this.#owner(type, name);
    if (owner?.metadata.uid !== uid) return 'missing';
    const { deletionTimestamp, finalizers = [] } = owner.metadata;
    if (deletionTimestamp === undefined) return 'living';
    if (finalizers.includes(orphanFinalizer)) return 'orphaning';
    return finalizers.includes(foregroundFinalizer) ? 'foreground' : 'living';
  }

  #owner(type: ResourceType, name: string): ResourceObject | undefined {
    const stored = nameProblem(name) === undefined ? this.#reader.get(type.key, name) : undefined;
    if (stored === undefined) return undefined;
    const key = `${type.key}/${name}`;
    if (this.#lastOwner?.key !== key || this.#lastOwner.revision !== stored.revision)
      this.#lastOwner = { key, revision: stored.revision, object: storedObject(stored.bytes) };
    return this.#lastOwner.object;
  }

  /**
   * The dependents of an owner. A dependent of an unregistered type does not block the owner, because nothing can
   * release the dependent. A reference with the uid of the owner and another name is ignored.
   */
  *dependentsOf(owner: ResourceObject): Generator<Dependent | undefined, void, undefined> {
    const { uid } = owner.metadata;
    for (const key of this.#owned.referrersOf(uid)) {
      yield;
      const dependent = this.read(key)?.object;
      if (dependent !== undefined && referencesTo(owner, dependent).length === 0) continue;
      const blocks = dependent !== undefined && isBlocking(dependent, owner);
      yield { blocks, isCaught: blocks && (yield* this.#waitsFor(key, dependent, uid)) };
    }
  }

  /**
   * Whether the object waits, directly or through other waiting objects, for the object with `uid`. An object waits for
   * its blocking dependents while the object is marked for foreground deletion. The search ends after
   * `ownerCycleObjectsMax` objects.
   */
  *#waitsFor(start: string, object: ResourceObject, uid: string): Steps<boolean> {
    const met = new Map<string, ResourceObject>([[start, object]]);
    // The iteration over a map includes entries that are added during the iteration.
    for (const [, waiting] of met) {
      const { metadata } = waiting;
      if (metadata.uid === uid) return true;
      if (metadata.deletionTimestamp === undefined || metadata.finalizers?.includes(foregroundFinalizer) !== true)
        continue;
      for (const key of this.#owned.referrersOf(metadata.uid)) {
        yield;
        const dependent = met.has(key) || met.size >= ownerCycleObjectsMax ? undefined : this.read(key)?.object;
        if (dependent !== undefined && isBlocking(dependent, waiting)) met.set(key, dependent);
      }
    }
    return false;
  }
}

function referencesTo(
  owner: ResourceObject,
  { metadata: { ownerReferences = [] } }: ResourceObject,
): readonly OwnerReference[] {
  return ownerReferences.filter((reference) => isReferenceTo(reference, owner));
}

function isBlocking(dependent: ResourceObject, owner: ResourceObject): boolean {
  return referencesTo(owner, dependent).some(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
}
