import { setImmediate as nextTurn } from 'node:timers/promises';

import { Slices } from '../../src/base/slices.ts';
import { inSlices } from '../../src/base/steps.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import type { Change } from '../../src/read/objects.ts';
import type { Dependent, DependentReader } from '../../src/read/operation/dependents.ts';
import { typeKey, type TypeKey } from '../../src/resource/type/index-entry.ts';
import type { OwnerReference, ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { storedObject } from '../../src/resource/object/shown-object.ts';
import { decideDependent, type OwnerState, type CollectionStep } from './garbage-collection.ts';
import { settled, type Outcome } from '../outcome.ts';
import { OwnerGraph, type OwnerGraphDependencies } from '../owner-graph.ts';
import { ownerConcurrencyMax } from './platform-limits.ts';
import { markedOf, namesOf, type PlatformDependencies } from './platform-reads.ts';
import { PlatformReconciler } from './platform-reconciler.ts';
import { PlatformWrites, type Read } from './platform-writes.ts';
import { Referrers } from './reference-index.ts';

export type OwnerReferencesDependencies = PlatformDependencies &
  OwnerGraphDependencies & {
    /** The types of objects for which owner references have no effect. */
    readonly withoutOwners: ReadonlySet<TypeKey>;
    /** Types with ready indexes. */
    readonly serving: () => readonly ResourceType[];
  };

/**
 * The key of the member in the stored JSON of an object. A match in another part of an object only causes an
 * unnecessary check.
 */
const mention = Buffer.from('"ownerReferences":');

type PlannedStep = {
  readonly step: CollectionStep;
  readonly writes: PlatformWrites;
};

/**
 * Applies the deletion of owners to their dependents (decision 3.5). An owner has ended if it was deleted, or if it is
 * marked and waits for the deletion of its dependents. An object with only ended owners is deleted. From an object with
 * other owners, the references to ended owners are removed.
 *
 * A last step of a deposed leader is harmless (docs/spec/consistency.md, 6). Each write requires the revision of the
 * object that the step read, and relies on permanent facts. An owner that does not exist was deleted, because its uid
 * was in the log before the reference. A mark is permanent.
 */
export class OwnerReferences extends PlatformReconciler implements DependentReader {
  readonly #dependencies: OwnerReferencesDependencies;
  readonly #writes: PlatformWrites;
  /** The references of objects to their owners, in the state that the reader returns. */
  readonly #owned = new Referrers();
  readonly #graph: OwnerGraph;
  /** The marked owners that wait for dependents: uid → key. Each change of a dependent enqueues its owner. */
  readonly #waiting = new Map<string, string>();
  /** The keys of objects with an owner of a type that was not registered at the last check. */
  #undecided = new Set<string>();
  #isOpen = false;
  #opened: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(dependencies: OwnerReferencesDependencies) {
    super({ name: 'owner-references', concurrency: ownerConcurrencyMax }, dependencies);
    this.#dependencies = dependencies;
    this.#graph = new OwnerGraph(this.#owned, dependencies);
    this.#writes = new PlatformWrites('owner-references', dependencies);
  }

  dependentsOf(uid: string, limit: number): readonly Dependent[] {
    const found: Dependent[] = [];
    for (const key of this.#owned.referrersOf(uid)) {
      if (found.length >= limit) break;
      const slash = key.indexOf('/');
      const hasOtherOwners = this.#owned.targetsOf(key).length > 1;
      found.push({ type: typeKey(key.slice(0, slash)), name: key.slice(slash + 1), hasOtherOwners });
    }
    return found;
  }

  /** The number of objects with owners. */
  get size(): number {
    return this.#owned.size;
  }

  /** Scans the objects of all served types and enqueues all keys. Call `open` after the read models have caught up. */
  override open(): void {
    this.#isOpen = true;
    super.open();
    this.#opened = this.#scanServed();
  }

  /** Resolves when the types that were served at the call of `open` are scanned. */
  async opened(): Promise<void> {
    return this.#opened;
  }

  async #scanServed(): Promise<void> {
    for (const type of this.#dependencies.serving()) await this.#scan(type);
  }

  /** Scans the objects of a type with ready indexes. Also enqueues the objects that wait for an unregistered type. */
  async serve(type: ResourceType): Promise<void> {
    if (!this.#isOpen) return;
    const undecided = this.#undecided;
    this.#undecided = new Set();
    this.enqueueKeys(() => undecided);
    await this.#scan(type);
  }

  override async stop(): Promise<void> {
    this.#isStopped = true;
    await super.stop();
  }

  /**
   * Scans a type in slices. The feed reports concurrent changes, and the scan never reads a row from before a reported
   * change.
   */
  async #scan(type: ResourceType): Promise<void> {
    const { reader, bound } = this.#dependencies;
    if (!this.#isServed(type)) return;
    try {
      for (const name of namesOf(reader, type)) {
        const stored = reader.get(type.key, name);
        if (stored !== undefined && this.#take(type.key, `${type.key}/${name}`, stored.bytes))
          this.enqueue(`${type.key}/${name}`);
        if (!bound.isTurnOver()) continue;
        await nextTurn();
        // A type that is reloaded is scanned again, so this scan would only delay the start of the type.
        if (this.#isStopped || !this.#isServed(type)) return;
      }
      this.enqueueKeys(() => this.#marked(type));
    } catch (error) {
      // A type that was stopped during the scan is scanned when the type is served again.
      if (this.#isServed(type)) this.report(error, type.key);
    }
  }

  protected *keys(): Iterable<string> {
    yield* this.#owned.all();
    for (const type of this.#dependencies.serving()) yield* this.#marked(type);
  }

  /**
   * The keys of the marked objects of a type. The iteration ends if the type is stopped, since its objects cannot be
   * read.
   */
  *#marked(type: ResourceType): Iterable<string> {
    if (!this.#isServed(type)) return;
    for (const name of markedOf(this.#dependencies.reader, type)) {
      yield `${type.key}/${name}`;
      if (!this.#isServed(type)) return;
    }
  }

  #isServed(type: ResourceType): boolean {
    return this.#dependencies.serving().includes(type);
  }

  protected onChange({ type, name, kind, bytes, deletionRequested, finalizers, cause }: Change): void {
    const key = `${type}/${name}`;
    if (kind === 'deleted') {
      this.#recordDeleted(key, bytes, cause);
      return;
    }
    if (this.#take(type, key, bytes, cause) || (deletionRequested && finalizers)) this.enqueue(key, cause);
  }

  #recordDeleted(key: string, bytes: Uint8Array, cause: CausingEvent): void {
    this.#undecided.delete(key);
    if (this.#owned.size === 0 && this.#waiting.size === 0) return;
    this.#wakeOwners(key, cause);
    this.#owned.put(key, []);
    const { uid } = storedObject(bytes).metadata;
    this.#waiting.delete(uid);
    this.#owned.recordDeleted(uid);
    this.#enqueueDependents(uid, cause);
  }

  /** Records the owners of an object. Returns whether the object has owners or had any. */
  #take(type: TypeKey, key: string, bytes: Uint8Array, cause?: CausingEvent): boolean {
    if (this.#dependencies.withoutOwners.has(type)) return false;
    const isMentioned = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(mention);
    if (!isMentioned && !this.#owned.has(key)) return false;
    const { ownerReferences = [] } = storedObject(bytes).metadata;
    this.#wakeOwners(key, cause);
    this.#owned.put(
      key,
      ownerReferences.map(({ uid }) => uid),
    );
    return true;
  }

  #wakeOwners(key: string, cause: CausingEvent | undefined): void {
    if (this.#waiting.size === 0) return;
    for (const uid of this.#owned.targetsOf(key)) {
      const owner = this.#waiting.get(uid);
      if (owner !== undefined) this.enqueue(owner, cause);
    }
  }

  #enqueueDependents(uid: string, cause: CausingEvent | undefined): void {
    if (this.#owned.isReferredTo(uid)) this.enqueueKeys(() => this.#owned.referrersOf(uid), cause);
  }

  protected async reconcile(key: string, cause: CausingEvent | undefined): Promise<Outcome> {
    const read = this.#graph.read(key);
    if (read === undefined) return settled;
    const object = this.#dependencies.withoutOwners.has(read.type.key) ? withoutReferences(read.object) : read.object;
    const step = await this.#decide(key, object, cause);
    return this.#carryOut(key, read, { step, writes: this.#writes.because(cause) });
  }

  async #decide(key: string, object: ResourceObject, cause: CausingEvent | undefined): Promise<CollectionStep> {
    const { uid, deletionTimestamp } = object.metadata;
    const isKnown = this.#waiting.has(uid);
    // The entry is set before the dependents are read, so that a concurrent change of a dependent enqueues the owner
    // again.
    if (deletionTimestamp !== undefined) this.#waiting.set(uid, key);
    const stateOf = (owner: OwnerReference): OwnerState => this.#graph.stateOf(owner);
    const deciding = decideDependent({ object, stateOf, dependents: () => this.#graph.dependentsOf(object) });
    let step: CollectionStep | undefined;
    try {
      return (step = await inSlices(deciding, new Slices(this.#dependencies.clock)));
    } finally {
      if (step?.type !== 'wait') this.#waiting.delete(uid);
      else if (!isKnown) this.#enqueueDependents(uid, cause);
    }
  }

  async #carryOut(key: string, read: Read, { step, writes }: PlannedStep): Promise<Outcome> {
    const { ownerReferences = [] } = read.object.metadata;
    switch (step.type) {
      case 'nothing':
        return settled;
      case 'undecided':
        this.#undecided.add(key);
        return settled;
      case 'wait':
        return settled;
      case 'release':
        return writes.patch(read, {
          metadata: { ownerReferences: ownerReferences.filter((owner) => !step.uids.has(owner.uid)) },
        });
      case 'delete':
        return writes.delete(read, step.propagation);
      case 'finish':
        return writes.removeFinalizer(read, step.finalizer);
    }
  }
}

function withoutReferences(object: ResourceObject): ResourceObject {
  const { ownerReferences: _meaningless, ...metadata } = object.metadata;
  return { ...object, metadata };
}
