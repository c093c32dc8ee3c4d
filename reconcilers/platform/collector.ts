import { actorOf, type Subject } from '../../src/command/subject.ts';
import { collectorConcurrencyMax } from '../../src/limits/reconcilers.ts';
import type { Change } from '../../src/read/objects.ts';
import { typeKey, type TypeKey } from '../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { Controller } from '../controller.ts';
import { refused, settled, type Outcome } from '../outcome.ts';
import { markedOf, type PlatformDependencies, readObject } from './platform-reads.ts';

/**
 * Removes objects that are marked for deletion and held back by no finalizer (decision 3.1). Writes remove them themselves;
 * here is what is left over: an object too large for both events in one append, and what an earlier version marked. It gets
 * keys, reads the world and takes one step, so running it twice is harmless; what it cannot finish it tries again later.
 *
 * A leader that is one no more may still take a last step, and that is harmless (consistency protocol, 6): the step is decided
 * on one stream and appended at the very revision it was decided on; a mark stays, a marked object gets no new finalizer,
 * and the uid keeps it from an object that has taken the name since. Of two leaders one removes it, the other finds it gone.
 */
const subject: Subject = { kind: 'platform', part: 'collector' };

export type CollectorDependencies = PlatformDependencies & {
  readonly types: (key: TypeKey) => ResourceType | undefined;
  /** Types whose indexes are ready. */
  readonly serving: () => readonly ResourceType[];
};

export class Collector {
  readonly #dependencies: CollectorDependencies;
  /** By `<type>/<name>`. */
  readonly #controller: Controller;
  readonly #unsubscribe: () => void;

  constructor(dependencies: CollectorDependencies) {
    const { bound, changes, clock, leadership, serving, onError } = dependencies;
    this.#dependencies = dependencies;
    this.#controller = new Controller({
      name: 'collector', bound, concurrency: collectorConcurrencyMax, clock, leadership, onError,
      reconcile: async (key) => this.#collect(key), keys: () => this.#marked(serving()),
      onStuck: (key) => { onError(new Error('it does not end'), key); },
    });
    this.#unsubscribe = changes.subscribe((batch) => {
      for (const change of batch.changes) if (isCollectable(change)) this.#controller.enqueue(`${change.type}/${change.name}`);
    });
  }

  /** Begins. Call it once the read models have caught up. */
  open(): void {
    this.#controller.open();
  }

  /** Enqueues what was marked before now. Call it once the type's indexes are ready. */
  enqueueAll(type: ResourceType): void {
    this.#controller.enqueueAll(() => this.#marked([type]));
  }

  /** Resolves when nothing waits to be collected. */
  async idle(): Promise<void> {
    return this.#controller.idle();
  }

  /** Lets what is running finish and drops the rest: the next start enqueues it again. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#controller.stop();
  }

  /** One that was stopped since it was asked for has nothing to be read: it is looked through when it is served again. */
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

  async #collect(key: string): Promise<Outcome> {
    const { types, reader, execute, uuid } = this.#dependencies;
    const slash = key.indexOf('/');
    const name = key.slice(slash + 1);
    const type = types(typeKey(key.slice(0, slash)));
    const read = type === undefined ? undefined : readObject(reader, type, name);
    if (read === undefined) return settled;
    const { metadata } = read.object;
    if (metadata.deletionTimestamp === undefined || metadata.finalizers !== undefined) return settled;
    const outcome = await execute(read.type, { type: 'collect', name, uid: metadata.uid }, {
      cause: { actor: actorOf(subject), verb: 'delete', requestId: uuid() }, dryRun: false, fieldValidation: undefined, origin: 'platform', subject,
    });
    if (outcome.ok) return settled;
    // Gone, replaced, or given a finalizer in the meantime: a later change enqueues it again if need be.
    return outcome.rejection.reason === 'not-found' || outcome.rejection.reason === 'precondition-failed' ? settled : refused(outcome.rejection);
  }
}

function isCollectable(change: Change): boolean {
  return change.kind !== 'deleted' && change.deletionRequested && !change.finalizers;
}
