import { stackOf } from '../../../base/error-message.ts';
import type { TypeVersions, Unconverted } from '../resource-type.ts';

/** The objects of a type that could not be converted: the first one, and how many conversions failed. */
export class VersionFaults {
  /** At least 1 once `#first` is set. */
  #count = 0;
  #first: Unconverted | undefined;
  readonly #listeners = new Set<() => void>();

  record({ name, problem, thrown }: Parameters<TypeVersions['faults']['record']>[0]): void {
    this.#count += 1;
    if (this.#first !== undefined) return;
    this.#first = { name, problem, trace: stackOf(thrown) };
    for (const listener of this.#listeners) listener();
  }

  found(): { readonly count: number; readonly first: Unconverted } | undefined {
    return this.#first === undefined ? undefined : { count: this.#count, first: this.#first };
  }

  /** Calls the listener at the first fault. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
