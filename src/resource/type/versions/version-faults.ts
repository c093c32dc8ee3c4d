import { stackOf } from '../../../base/error-message.ts';
import type { TypeVersions, Unconverted } from '../resource-type.ts';

/** Counts the failed conversions of a type's objects, and records the first object that could not be converted. */
export class VersionFaults {
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

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
