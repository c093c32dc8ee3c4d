import { setImmediate as nextTurn } from 'node:timers/promises';

import { Slices } from '../../src/base/slices.ts';
import { inSlices } from '../../src/base/steps.ts';
import type { Change } from '../../src/read/objects.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import type { OwnerReference, ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { storedObject } from '../../src/resource/object/shown-object.ts';
import { Controller } from '../controller.ts';
import { judgeDependent, type OwnerState, type Step } from './dependent-judgement.ts';
import { settled, type Outcome } from '../outcome.ts';
import { OwnerGraph, type OwnerGraphDependencies } from '../owner-graph.ts';
import { ownerConcurrencyMax } from './platform-limits.ts';
import { markedOf, namesOf, type PlatformDependencies } from './platform-reads.ts';
import { PlatformWrites, type Read } from './platform-writes.ts';
import { Referrers } from './referrers.ts';

/**
 * Deletes objects whose last owner is gone, lets go of those whose owner says so, and holds an owner back until what blocks it
 * is gone (decision 3.5). It gets the key of an object, reads it with its owners and dependents, and takes one step.
 *
 * A leader that is one no more may still take a last step, and that is harmless (consistency protocol, 6): each is appended at
 * the very revision of the object it was decided on, and decided on monotone facts. Whoever names a uid has it from an event
 * before their own, so an owner that is not there once the dependent is folded is gone, and a uid never comes back; a mark
 * stays; and a marked object gets no finalizer back. The one thing decided on absence is that a marked owner has no dependents
 * left: one that another node made a moment ago finds its owner gone later, as one made a moment after the owner went would.
 */
export type OwnerReferencesDependencies = PlatformDependencies & OwnerGraphDependencies & {
  /** Types whose objects have no owners, whatever they hold. */
  readonly withoutOwners: ReadonlySet<TypeKey>;
  /** Types whose indexes are ready. */
  readonly serving: () => readonly ResourceType[];
};

/** As an answer holds it: a key of JSON is written one way only. Elsewhere in an object it is a false alarm, and no more. */
const mention = Buffer.from('"ownerReferences":');

export class OwnerReferences {
  readonly #dependencies: OwnerReferencesDependencies;
  readonly #controller: Controller;
  readonly #writes: PlatformWrites;
  readonly #unsubscribe: () => void;
  /** As of the very state that the reader shows. */
  readonly #owned = new Referrers();
  readonly #graph: OwnerGraph;
  /** Marked owners that wait for dependents, by uid: each change of a dependent is looked at for their sake. */
  readonly #waiting = new Map<string, string>();
  /** Keys of those with an owner of a type that was not registered when they were looked at. */
  #undecided = new Set<string>();
  #isOpen = false;
  #isStopped = false;

  constructor(dependencies: OwnerReferencesDependencies) {
    const { changes, bound, clock, leadership, onError } = dependencies;
    this.#dependencies = dependencies;
    this.#graph = new OwnerGraph(this.#owned, dependencies);
    this.#writes = new PlatformWrites('owner-references', dependencies);
    this.#controller = new Controller({
      name: 'owner-references', bound, concurrency: ownerConcurrencyMax, clock, leadership, onError,
      keys: () => this.#keys(), reconcile: (key) => this.#reconcile(key),
    });
    this.#unsubscribe = changes.subscribe((batch) => { for (const change of batch.changes) this.#note(change); });
  }

  /** Objects that name an owner, as far as they were looked through. */
  get size(): number {
    return this.#owned.size;
  }

  /** Looks through the objects of every type that is served. Call it once the tables have caught up. */
  async open(): Promise<void> {
    this.#isOpen = true;
    this.#controller.open();
    for (const type of this.#dependencies.serving()) await this.#scan(type);
  }

  /** The type's indexes are ready: its objects are looked through, and whoever waits for one of them is looked at again. */
  async serve(type: ResourceType): Promise<void> {
    if (!this.#isOpen) return;
    const undecided = this.#undecided;
    this.#undecided = new Set();
    this.#controller.enqueueAll(() => undecided);
    await this.#scan(type);
  }

  async idle(): Promise<void> {
    return this.#controller.idle();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe();
    await this.#controller.stop();
  }

  /** Slice by slice; what changes meanwhile is noted from the feed, and what is read here is never older than that. */
  async #scan(type: ResourceType): Promise<void> {
    const { reader, bound, onError } = this.#dependencies;
    if (!this.#isServed(type)) return;
    try {
      for (const name of namesOf(reader, type)) {
        const stored = reader.get(type.key, name);
        if (stored !== undefined && this.#take(type.key, `${type.key}/${name}`, stored.bytes)) this.#controller.enqueue(`${type.key}/${name}`);
        if (!bound.isTurnOver()) continue;
        await nextTurn();
        // One that is started anew is looked through anew: going on would only slow that start down.
        if (this.#isStopped || !this.#isServed(type)) return;
      }
      this.#controller.enqueueAll(() => this.#marked(type));
    } catch (error) {
      // The type was stopped meanwhile: it is looked through when it is back.
      if (this.#isServed(type)) onError(error, type.key);
    }
  }

  *#keys(): Iterable<string> {
    yield* this.#owned.all();
    for (const type of this.#dependencies.serving()) yield* this.#marked(type);
  }

  /** One that was stopped since it was asked for has nothing to be read: it is looked through when it is served again. */
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

  #note({ type, name, kind, bytes, deletionRequested, finalizers }: Change): void {
    const key = `${type}/${name}`;
    if (kind === 'deleted') {
      this.#noteGone(key, bytes);
      return;
    }
    if (this.#take(type, key, bytes) || (deletionRequested && finalizers)) this.#controller.enqueue(key);
  }

  #noteGone(key: string, bytes: Uint8Array): void {
    this.#undecided.delete(key);
    if (this.#owned.size === 0 && this.#waiting.size === 0) return;
    this.#wakeOwners(key);
    this.#owned.put(key, []);
    const { uid } = storedObject(bytes).metadata;
    this.#waiting.delete(uid);
    this.#owned.noteGone(uid);
    this.#enqueueDependents(uid);
  }

  /** Takes in whom the object names as its owners, and answers whether it names any, or did. */
  #take(type: TypeKey, key: string, bytes: Uint8Array): boolean {
    if (this.#dependencies.withoutOwners.has(type)) return false;
    const isMentioned = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(mention);
    if (!isMentioned && !this.#owned.has(key)) return false;
    const { ownerReferences = [] } = storedObject(bytes).metadata;
    this.#wakeOwners(key);
    this.#owned.put(key, ownerReferences.map(({ uid }) => uid));
    return true;
  }

  #wakeOwners(key: string): void {
    if (this.#waiting.size === 0) return;
    for (const uid of this.#owned.targetsOf(key)) {
      const owner = this.#waiting.get(uid);
      if (owner !== undefined) this.#controller.enqueue(owner);
    }
  }

  #enqueueDependents(uid: string): void {
    if (this.#owned.isReferredTo(uid)) this.#controller.enqueueAll(() => this.#owned.referrersOf(uid));
  }

  async #reconcile(key: string): Promise<Outcome> {
    const read = this.#graph.read(key);
    if (read === undefined) return settled;
    const object = this.#dependencies.withoutOwners.has(read.type.key) ? withoutReferences(read.object) : read.object;
    return this.#carryOut(key, read, await this.#judge(key, object));
  }

  async #judge(key: string, object: ResourceObject): Promise<Step> {
    const { uid, deletionTimestamp } = object.metadata;
    const isKnown = this.#waiting.has(uid);
    // Before its dependents are looked at: what becomes of one of them meanwhile wakes it for another look.
    if (deletionTimestamp !== undefined) this.#waiting.set(uid, key);
    const stateOf = (owner: OwnerReference): OwnerState => this.#graph.stateOf(owner);
    const judging = judgeDependent({ object, stateOf, dependents: () => this.#graph.dependentsOf(object) });
    let step: Step | undefined;
    try {
      return step = await inSlices(judging, new Slices(this.#dependencies.clock));
    } finally {
      if (step?.type !== 'wait') this.#waiting.delete(uid);
      else if (!isKnown) this.#enqueueDependents(uid);
    }
  }

  async #carryOut(key: string, read: Read, step: Step): Promise<Outcome> {
    const { ownerReferences = [] } = read.object.metadata;
    switch (step.type) {
      case 'nothing': return settled;
      case 'undecided':
        this.#undecided.add(key);
        return settled;
      case 'wait': return settled;
      case 'release':
        return this.#writes.patch(read, { metadata: { ownerReferences: ownerReferences.filter((owner) => !step.uids.has(owner.uid)) } });
      case 'delete': return this.#writes.delete(read, step.propagation);
      case 'finish': return this.#writes.removeFinalizer(read, step.finalizer);
    }
  }
}

function withoutReferences(object: ResourceObject): ResourceObject {
  const { ownerReferences: _meaningless, ...metadata } = object.metadata;
  return { ...object, metadata };
}
