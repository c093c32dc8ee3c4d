import type { CausingEvent } from '../../src/command/event.ts';
import { platformContext } from '../../src/command/platform-context.ts';
import type { PlatformSubject } from '../../src/command/subject.ts';
import { collectorConcurrencyMax } from '../../src/limits/reconcilers.ts';
import type { Change } from '../../src/read/objects.ts';
import { typeKey, type TypeKey } from '../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { refused, settled, type Outcome } from '../outcome.ts';
import { markedOf, type PlatformDependencies, readObject } from './platform-reads.ts';
import { PlatformReconciler } from './platform-reconciler.ts';

const subject: PlatformSubject = { kind: 'platform', part: 'collector' };

export type CollectorDependencies = PlatformDependencies & {
  readonly types: (key: TypeKey) => ResourceType | undefined;
  /** Types with ready indexes. */
  readonly serving: () => readonly ResourceType[];
};

/**
 * Removes objects that are marked for deletion and have no finalizers (decision 3.1). The keys are `<type>/<name>`.
 *
 * A write usually marks and removes an object in one append. Two cases are left: objects that are too large for one
 * append with both events, and objects that an earlier version of the program marked.
 *
 * A last step of a deposed leader is harmless (docs/spec/consistency.md, 6). A mark is permanent, a marked object gets
 * no new finalizer, and the uid protects a later object of the same name.
 */
export class Collector extends PlatformReconciler {
  readonly #dependencies: CollectorDependencies;

  constructor(dependencies: CollectorDependencies) {
    super({ name: 'collector', concurrency: collectorConcurrencyMax }, dependencies);
    this.#dependencies = dependencies;
  }

  /** Enqueues the objects that are marked already. Call `enqueueAll` after the indexes of the type are ready. */
  enqueueAll(type: ResourceType): void {
    this.enqueueKeys(() => this.#marked([type]));
  }

  protected keys(): Iterable<string> {
    return this.#marked(this.#dependencies.serving());
  }

  protected onChange(change: Change): void {
    if (isCollectable(change)) this.enqueue(`${change.type}/${change.name}`, change.cause);
  }

  /**
   * The keys of the marked objects of these types. The iteration skips a type that is stopped meanwhile, since its
   * objects cannot be read.
   */
  *#marked(types: readonly ResourceType[]): Iterable<string> {
    const { reader, serving } = this.#dependencies;
    for (const type of types) {
      if (!serving().includes(type)) continue;
      for (const name of markedOf(reader, type)) {
        yield `${type.key}/${name}`;
        if (!serving().includes(type)) break;
      }
    }
  }

  protected async reconcile(key: string, cause: CausingEvent | undefined): Promise<Outcome> {
    const { types, reader, execute, uuid } = this.#dependencies;
    const slash = key.indexOf('/');
    const name = key.slice(slash + 1);
    const type = types(typeKey(key.slice(0, slash)));
    const read = type === undefined ? undefined : readObject(reader, type, name);
    if (read === undefined) return settled;
    const { metadata } = read.object;
    if (metadata.deletionTimestamp === undefined || metadata.finalizers !== undefined) return settled;
    const outcome = await execute(
      read.type,
      { type: 'collect', name, uid: metadata.uid },
      platformContext(subject, { verb: 'delete', requestId: uuid() }, cause),
    );
    if (outcome.ok) return settled;
    // The object was deleted or replaced, or can no longer be removed.
    return outcome.rejection.reason === 'not-found' || outcome.rejection.reason === 'precondition-failed'
      ? settled
      : refused(outcome.rejection);
  }
}

function isCollectable(change: Change): boolean {
  return change.kind !== 'deleted' && change.deletionRequested && !change.finalizers;
}
