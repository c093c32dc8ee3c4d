import type { Leadership } from '../../src/read/leadership.ts';

/** A leadership that only the test changes. */
export class Leading implements Leadership {
  readonly #listeners = new Set<(leads: boolean) => void>();
  #leads: boolean;

  constructor(leads: boolean) {
    this.#leads = leads;
  }

  isLeader(): boolean {
    return this.#leads;
  }

  subscribe(listener: (leads: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  lead(leads: boolean): void {
    this.#leads = leads;
    for (const listener of this.#listeners) listener(leads);
  }
}
