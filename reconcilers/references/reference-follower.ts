import type { CausingEvent } from '../../src/command/event.ts';
import type { Change } from '../../src/read/objects.ts';
import type { ReferenceFrom, ReferenceReader, Referrer } from '../../src/read/references/reference-reader.ts';
import { isReconciled, referencesFinalizer } from '../../src/resource/references/reference-declaration.ts';
import { namedTargets, targetKey } from '../../src/resource/references/named-targets.ts';
import { typeKey, type TypeKey } from '../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { storedObject } from '../../src/resource/object/shown-object.ts';
import { settled, type Outcome } from '../outcome.ts';
import { markedOf, readObject, type PlatformDependencies } from '../platform/platform-reads.ts';
import { ownerConcurrencyMax } from '../platform/platform-limits.ts';
import { PlatformReconciler } from '../platform/platform-reconciler.ts';
import { PlatformWrites, type Read } from '../platform/platform-writes.ts';
import { clearingPatch, endedReferences } from './ended-references.ts';

export type ReferenceFollowerDependencies = PlatformDependencies & {
  readonly references: ReferenceReader;
  readonly types: (key: TypeKey) => ResourceType | undefined;
  /** Types with ready indexes. */
  readonly serving: () => readonly ResourceType[];
  readonly domain: string;
};

const referrersPerPage = 256;

/**
 * Processes the objects that name a deleted object: deletes the referring object or removes the name, as the type
 * declares. A marked object waits, with a finalizer, until no unmarked object names the marked object. The keys are
 * `<type>/<name>`.
 *
 * The deletion of a cycle of references ends, because each step marks one more object, and a target does not wait for
 * marked objects.
 *
 * A last step of a deposed leader is harmless (docs/spec/consistency.md, 6). Objects are changed at the revision that
 * was read. Marks are permanent, and a deleted uid is never used again.
 */
export class ReferenceFollower extends PlatformReconciler {
  readonly #dependencies: ReferenceFollowerDependencies;
  readonly #writes: PlatformWrites;
  readonly #finalizer: string;
  /** The keys of marked objects that wait for referring objects. */
  readonly #waiting = new Set<string>();

  constructor(dependencies: ReferenceFollowerDependencies) {
    super({ name: 'references', concurrency: ownerConcurrencyMax }, dependencies);
    this.#dependencies = dependencies;
    this.#writes = new PlatformWrites('references', dependencies);
    this.#finalizer = referencesFinalizer(dependencies.domain);
  }

  /** Enqueues the objects of a type that may need a step. Call `serve` after the indexes of the type are ready. */
  serve(type: ResourceType): void {
    this.enqueueKeys(() => this.#keysOf(type));
  }

  protected *keys(): Iterable<string | undefined> {
    for (const type of this.#dependencies.serving()) yield* this.#keysOf(type);
  }

  *#keysOf(type: ResourceType): Iterable<string | undefined> {
    const { references, reader, serving } = this.#dependencies;
    if (references.declaredTo(type.key).some(isReconciled)) {
      for (const name of markedOf(reader, type)) {
        yield `${type.key}/${name}`;
        if (!serving().includes(type)) return;
      }
    }
    if (!references.declaredBy(type.key).some(isReconciled)) return;
    for (const name of pages(
      (page) => references.referring(type.key, page),
      (each) => each,
    ))
      yield endedReferences(references, type.key, name).length === 0 ? undefined : `${type.key}/${name}`;
  }

  protected onChange(change: Change): void {
    const { references } = this.#dependencies;
    const { type, name, kind, deletionRequested, cause } = change;
    const key = `${type}/${name}`;
    if (references.declaredBy(type).some(isReconciled)) {
      this.#wakeTargets(change);
      if (kind !== 'deleted' && endedReferences(references, type, name).length > 0) this.enqueue(key, cause);
    }
    if (!references.declaredTo(type).some(isReconciled)) return;
    if (kind === 'deleted') {
      this.#waiting.delete(key);
      this.enqueueKeys(() => this.#referrersOf(key), cause);
    } else if (deletionRequested) this.enqueue(key, cause);
  }

  /** Enqueues the targets that wait for this object and that the object named before the change. */
  #wakeTargets({ type, previousBytes, cause }: Change): void {
    const { types } = this.#dependencies;
    const registered = types(type);
    if (this.#waiting.size === 0 || previousBytes === undefined || registered === undefined) return;
    for (const { target } of namedTargets(registered.references, storedObject(previousBytes())))
      if (target !== undefined && this.#waiting.has(target)) this.enqueue(target, cause);
  }

  /** The keys of all objects that name the target in references that a reconciler must process. */
  *#referrersOf(target: string): Iterable<string> {
    for (const { type, name } of this.#referrers(target)) yield `${type}/${name}`;
  }

  *#referrers(target: string): Iterable<Referrer> {
    const { references } = this.#dependencies;
    for (const declared of this.#declaredTo(target))
      yield* pages(
        (page) => references.referrers(target, declared, page),
        ({ name }) => name,
      );
  }

  #declaredTo(target: string): readonly ReferenceFrom[] {
    const { references } = this.#dependencies;
    return references.declaredTo(typeKey(target.slice(0, target.indexOf('/')))).filter(isReconciled);
  }

  protected async reconcile(key: string, cause: CausingEvent | undefined): Promise<Outcome> {
    const { types, reader } = this.#dependencies;
    const slash = key.indexOf('/');
    const type = types(typeKey(key.slice(0, slash)));
    const read = type && readObject(reader, type, key.slice(slash + 1));
    if (read === undefined) return settled;
    const writes = this.#writes.because(cause);
    return read.object.metadata.deletionTimestamp === undefined
      ? this.#followTargets(read, writes)
      : this.#release(key, read, { writes, cause });
  }

  /** Deletes an object that names deleted objects, or removes the names of the deleted objects from the object. */
  async #followTargets(read: Read, writes: PlatformWrites): Promise<Outcome> {
    const { type, object } = read;
    const ended = endedReferences(this.#dependencies.references, type.key, object.metadata.name);
    if (ended.length === 0) return settled;
    return ended.some(({ onDelete }) => onDelete === 'cascade')
      ? writes.delete(read)
      : writes.patch(read, clearingPatch(object, ended));
  }

  /** Removes the finalizer of a marked object, unless an unmarked object names the marked object. */
  async #release(
    key: string,
    read: Read,
    { writes, cause }: { readonly writes: PlatformWrites; readonly cause: CausingEvent | undefined },
  ): Promise<Outcome> {
    if (read.object.metadata.finalizers?.includes(this.#finalizer) !== true) {
      this.#waiting.delete(key);
      this.enqueueKeys(() => this.#referrersOf(key), cause);
      return settled;
    }
    const isKnown = this.#waiting.has(key);
    // The key is added before the referring objects are read, so that a concurrent change of a referring object
    // enqueues the target.
    this.#waiting.add(key);
    if (!this.#isNamed(key)) {
      this.#waiting.delete(key);
      return writes.removeFinalizer(read, this.#finalizer);
    }
    if (!isKnown) this.enqueueKeys(() => this.#referrersOf(key), cause);
    return settled;
  }

  /** Whether an unmarked object other than the target names the target. */
  #isNamed(target: string): boolean {
    const { references } = this.#dependencies;
    for (const { type, name } of this.#referrers(target))
      if (targetKey(type, name) !== target && references.isMarked(type, name) === false) return true;
    return false;
  }
}

type Page = {
  readonly after: string | undefined;
  readonly limit: number;
};

/** Reads a list page by page. Each page is read when the page is needed. */
function* pages<Item>(read: (page: Page) => readonly Item[], nameOf: (item: Item) => string): Iterable<Item> {
  let after: string | undefined;
  for (;;) {
    const page = read({ after, limit: referrersPerPage });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < referrersPerPage) return;
    after = nameOf(last);
  }
}
