import type { Leadership } from '../../../src/read/leadership.ts';
import type { LeaseElector } from '../../../reconcilers/lease.ts';

/** What the elector says, unless the run makes this node lead whatever anybody else believes. */
export class SimLeadership implements Leadership {
  readonly #elector: LeaseElector;
  readonly #listeners = new Set<(leads: boolean) => void>();
  #forced = false;
  #notified = false;

  constructor(elector: LeaseElector) {
    this.#elector = elector;
    elector.subscribe(() => {
      this.#notify();
    });
  }

  /** By the lease alone. */
  get elected(): boolean {
    return this.#elector.isLeader();
  }

  isLeader(): boolean {
    return this.#forced || this.elected;
  }

  subscribe(listener: (leads: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  force(forced: boolean): void {
    this.#forced = forced;
    this.#notify();
  }

  async stop(): Promise<void> {
    await this.#elector.stop();
  }

  #notify(): void {
    const leads = this.isLeader();
    if (leads === this.#notified) return;
    this.#notified = leads;
    for (const listener of this.#listeners) listener(leads);
  }
}
