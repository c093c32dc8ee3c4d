import { actorOf, type Subject } from '../src/command/subject.ts';
import type { Clock } from '../src/base/clock.ts';
import type { Execute } from '../src/execute.ts';
import { collectorConcurrencyMax } from '../src/limits.ts';
import type { Change, ChangeFeed, ObjectReader } from '../src/read/objects.ts';
import { typeKey, type TypeKey } from '../src/resource/index-entry.ts';
import { indexOf } from '../src/resource/list-query.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { storedObject } from '../src/resource/shown-object.ts';
import { KeyQueue } from './key-queue.ts';
import type { Leadership } from './lease.ts';

/**
 * Removes objects that are marked for deletion and held back by no finalizer (decision 3.1). It gets keys, reads the world
 * and takes one step, so running it twice is harmless; what it cannot finish now it tries again later.
 *
 * A leader that is one no more may still take a last step, and that is harmless (consistency protocol, 6): the step is decided
 * on one stream and appended at the very revision it was decided on; a mark stays, a marked object gets no new finalizer,
 * and the uid keeps it from an object that has taken the name since. Of two leaders one removes it, the other finds it gone.
 */
const subject: Subject = { kind: 'platform', part: 'collector' };

export type CollectorDependencies = {
  readonly changes: ChangeFeed;
  readonly reader: ObjectReader;
  readonly execute: Execute;
  readonly types: (key: TypeKey) => ResourceType | undefined;
  /** Types whose indexes are ready. */
  readonly serving: () => readonly ResourceType[];
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown, key: string) => void;
};

export class Collector {
  readonly #dependencies: CollectorDependencies;
  /** By `<type>/<name>`. */
  readonly #queue: KeyQueue;
  readonly #unsubscribe: () => void;

  constructor(dependencies: CollectorDependencies) {
    const { changes, clock, leadership, serving, onError } = dependencies;
    this.#dependencies = dependencies;
    this.#queue = new KeyQueue({
      concurrency: collectorConcurrencyMax, clock, leadership, onError, step: async (key) => this.#collect(key),
      onChange: (leads) => { if (leads) for (const type of serving()) this.enqueueAll(type); },
    });
    this.#unsubscribe = changes.subscribe((batch) => {
      for (const change of batch.changes) if (isCollectable(change)) this.#queue.enqueue(`${change.type}/${change.name}`);
    });
  }

  /** Enqueues what was marked before now. Call it once the type's indexes are ready. */
  enqueueAll(type: ResourceType): void {
    const index = indexOf(type.indexes, 'metadata.deletionTimestamp');
    if (index === undefined || !this.#queue.isActive()) return;
    const { reader } = this.#dependencies;
    for (const name of reader.names(type.key, { selection: { labels: [], fields: [{ index, operator: 'exists' }] }, sort: [], window: { kind: 'all' } })) {
      this.#queue.enqueue(`${type.key}/${name}`);
    }
  }

  /** Lets what is running finish and drops the rest: the next start enqueues it again. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#queue.stop();
  }

  async #collect(key: string): Promise<'settled' | 'again'> {
    const { types, reader, execute, uuid } = this.#dependencies;
    const slash = key.indexOf('/');
    const name = key.slice(slash + 1);
    const type = types(typeKey(key.slice(0, slash)));
    const stored = type === undefined ? undefined : reader.get(type.key, name);
    if (type === undefined || stored === undefined) return 'settled';
    const { metadata } = storedObject(stored.bytes);
    if (metadata.deletionTimestamp === undefined || metadata.finalizers !== undefined) return 'settled';
    const outcome = await execute(type, { type: 'collect', name, uid: metadata.uid }, {
      cause: { actor: actorOf(subject), verb: 'delete', requestId: uuid() }, dryRun: false, fieldValidation: undefined, origin: 'platform', subject,
    });
    if (outcome.ok) return 'settled';
    // Gone, replaced, or given a finalizer in the meantime: a later change enqueues it again if need be.
    return outcome.rejection.reason === 'not-found' || outcome.rejection.reason === 'precondition-failed' ? 'settled' : 'again';
  }
}

function isCollectable(change: Change): boolean {
  return change.kind !== 'deleted' && change.deletionRequested && !change.finalizers;
}
