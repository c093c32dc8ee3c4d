import type { Leadership } from '../../../src/read/leadership.ts';
import type { LeaseElector } from '../../../reconcilers/lease.ts';

/** What the elector says, unless the run makes this node lead whatever anybody else believes. */
export class SimLeadership implements Leadership {
  readonly #elector: LeaseElector;
  readonly #listeners = new Set<(leads: boolean) => void>();
  #forced = false;
  #told = false;

  constructor(elector: LeaseElector) {
    this.#elector = elector;
    elector.subscribe(() => {
      this.#tell();
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
    this.#tell();
  }

  async stop(): Promise<void> {
    await this.#elector.stop();
  }

  #tell(): void {
    const leads = this.isLeader();
    if (leads === this.#told) return;
    this.#told = leads;
    for (const listener of this.#listeners) listener(leads);
  }
}
