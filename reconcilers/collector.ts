import PQueue from 'p-queue';
import type { Clock } from '../src/base/clock.ts';
import { collectorConcurrencyMax, collectorRetryMsMax } from '../src/limits.ts';
import { actorOf, type Subject } from '../src/command/subject.ts';
import type { Execute } from '../src/execute.ts';
import type { Change, ChangeFeed, ObjectReader } from '../src/read/objects.ts';
import type { TypeKey } from '../src/resource/index-entry.ts';
import { indexOf } from '../src/resource/list-query.ts';
import { storedObject } from '../src/resource/shown-object.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';

/**
 * Removes objects that are marked for deletion and held back by no finalizer (decision 3.1). It gets keys, reads the world
 * and takes one step, so running it twice is harmless; what it cannot finish now it tries again later.
 */
const subject: Subject = { kind: 'platform', part: 'collector' };

export type CollectorDependencies = {
  readonly changes: ChangeFeed;
  readonly reader: ObjectReader;
  readonly execute: Execute;
  readonly types: (key: TypeKey) => ResourceType | undefined;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly onError: (error: unknown, key: string) => void;
};

type Key = { readonly type: TypeKey; readonly name: string };

export class Collector {
  readonly #dependencies: CollectorDependencies;
  readonly #queue = new PQueue({ concurrency: collectorConcurrencyMax });
  /** `<type>/<name>` of every key queued, running or waiting for its next try. */
  readonly #pending = new Set<string>();
  /** Pending keys that changed since their try began: they are looked at once more. */
  readonly #dirty = new Set<string>();
  readonly #unsubscribe: () => void;
  #stopped = false;

  constructor(dependencies: CollectorDependencies) {
    this.#dependencies = dependencies;
    this.#unsubscribe = dependencies.changes.subscribe(({ changes }) => {
      for (const change of changes) if (isCollectable(change)) this.#enqueue(change);
    });
  }

  /** Enqueues what was marked before this start. Call it once the type's indexes are ready. */
  enqueueAll(type: ResourceType): void {
    const index = indexOf(type.indexes, 'metadata.deletionTimestamp');
    if (index === undefined) return;
    const { reader } = this.#dependencies;
    for (const name of reader.names(type.key, { selection: { labels: [], fields: [{ index, operator: 'exists' }] }, sort: [], window: { kind: 'all' } })) {
      this.#enqueue({ type: type.key, name });
    }
  }

  /** Lets what is running finish and drops the rest: the next start enqueues it again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    this.#queue.clear();
    await this.#queue.onIdle();
  }

  #enqueue(key: Key): void {
    const id = `${key.type}/${key.name}`;
    if (this.#stopped) return;
    if (this.#pending.has(id)) {
      this.#dirty.add(id);
      return;
    }
    this.#pending.add(id);
    this.#schedule(key, id, 1);
  }

  #schedule(key: Key, id: string, attempt: number): void {
    void this.#queue.add(async () => {
      this.#dirty.delete(id);
      const outcome = await this.#collect(key).catch((error: unknown) => {
        this.#dependencies.onError(error, id);
        return 'again' as const;
      });
      if (outcome === 'settled' || this.#stopped) {
        this.#pending.delete(id);
        if (this.#dirty.delete(id)) this.#enqueue(key);
        return;
      }
      this.#dependencies.clock.after(Math.min(2 ** attempt * 10, collectorRetryMsMax), () => {
        if (!this.#stopped) this.#schedule(key, id, Math.min(attempt + 1, 30));
      });
    });
  }

  async #collect(key: Key): Promise<'settled' | 'again'> {
    const { types, reader, execute, uuid } = this.#dependencies;
    const type = types(key.type);
    const stored = reader.get(key.type, key.name);
    if (type === undefined || stored === undefined) return 'settled';
    const { metadata } = storedObject(stored.bytes);
    if (metadata.deletionTimestamp === undefined || metadata.finalizers !== undefined) return 'settled';
    const outcome = await execute(type, { type: 'collect', name: key.name, uid: metadata.uid }, {
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
