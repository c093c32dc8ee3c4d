import PQueue from 'p-queue';

import type { Clock } from '../src/base/clock.ts';
import { collectorRetryMsMax } from '../src/limits.ts';
import type { Leadership } from './lease.ts';

export type KeyQueueDependencies = {
  readonly concurrency: number;
  readonly clock: Clock;
  readonly leadership: Leadership;
  /** Reads the world and takes one step; `again`: it is to be tried later. */
  readonly step: (key: string) => Promise<'settled' | 'again'>;
  readonly onError: (error: unknown, key: string) => void;
  /** This node leads from now on, or no more. What was queued before is forgotten at each change. */
  readonly onChange: (leads: boolean) => void;
};

/** What is queued, runs or waits for its next try while this node leads; with the end of that all of it is dropped. */
type Term = { readonly pending: Map<string, 'once' | 'again'> };

/**
 * Keys to be looked at, each by one step at a time: what changes during its step is looked at once more, what could not be
 * finished is tried again later. Only the leader takes steps: whoever becomes it enqueues everything anew.
 */
export class KeyQueue {
  readonly #dependencies: KeyQueueDependencies;
  readonly #queue: PQueue;
  readonly #unsubscribe: () => void;
  #term: Term = { pending: new Map() };
  #stopped = false;

  constructor(dependencies: KeyQueueDependencies) {
    this.#dependencies = dependencies;
    this.#queue = new PQueue({ concurrency: dependencies.concurrency });
    this.#unsubscribe = dependencies.leadership.subscribe((leads) => {
      this.#drop();
      dependencies.onChange(leads);
    });
  }

  /** Whether steps are taken: what is enqueued otherwise is forgotten. */
  isActive(): boolean {
    return !this.#stopped && this.#dependencies.leadership.isLeader();
  }

  enqueue(key: string): void {
    if (!this.isActive()) return;
    const { pending } = this.#term;
    const isPending = pending.has(key);
    pending.set(key, isPending ? 'again' : 'once');
    if (!isPending) this.#schedule(key, 1);
  }

  /** Lets what is running finish and drops the rest: the next leader, or start, enqueues it again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    this.#drop();
    await this.#queue.onIdle();
  }

  #drop(): void {
    this.#queue.clear();
    this.#term = { pending: new Map() };
  }

  #schedule(key: string, attempt: number): void {
    const term = this.#term;
    void this.#queue.add(async () => {
      if (!this.isActive()) return;
      term.pending.set(key, 'once');
      const outcome = await this.#dependencies.step(key).catch((error: unknown) => {
        this.#dependencies.onError(error, key);
        return 'again' as const;
      });
      if (term !== this.#term) return;
      if (outcome === 'settled') {
        const more = term.pending.get(key) === 'again';
        term.pending.delete(key);
        if (more) this.enqueue(key);
        return;
      }
      this.#dependencies.clock.after(Math.min(2 ** attempt * 10, collectorRetryMsMax), () => {
        if (term === this.#term) this.#schedule(key, Math.min(attempt + 1, 30));
      });
    });
  }
}
