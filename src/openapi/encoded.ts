/** A named member of a document. `value` depends only on the name and on the sources, which are immutable objects. */
export type Part = {
  readonly name: string;
  readonly sources: readonly object[];
  readonly value: () => unknown;
};

type Kept<T> = Pick<Part, 'name' | 'sources'> & { readonly encoded: T };

/**
 * Encodes parts. Caches the latest result for the first source of a part, until this source is garbage-collected. A
 * part without sources is not cached.
 */
export class Encoded<T> {
  readonly #encode: (name: string, value: unknown) => T;
  readonly #kept = new WeakMap<object, Kept<T>>();

  constructor(encode: (name: string, value: unknown) => T) {
    this.#encode = encode;
  }

  of({ name, sources, value }: Part): T {
    const [first] = sources;
    const kept = first === undefined ? undefined : this.#kept.get(first);
    if (kept?.name === name && isSame(kept.sources, sources)) return kept.encoded;
    const encoded = this.#encode(name, value());
    if (first !== undefined) this.#kept.set(first, { name, sources, encoded });
    return encoded;
  }
}

function isSame(left: readonly object[], right: readonly object[]): boolean {
  return left.length === right.length && left.every((source, index) => source === right[index]);
}
