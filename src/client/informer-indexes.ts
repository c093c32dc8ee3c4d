export type IndexedValue = string | number | boolean;
export type IndexFunction<T> = (object: T) => IndexedValue | readonly IndexedValue[] | null | undefined;

/** Indexes the names of objects by the results of index functions. */
export class InformerIndexes<T> {
  readonly #functions: ReadonlyMap<string, IndexFunction<T>>;
  readonly #names = new Map<string, Map<IndexedValue, Set<string>>>();
  /**
   * The indexed values of each object, by the name of the object, then by the name of the index. A later call of an
   * index function may return other values, so the values are stored.
   */
  readonly #values = new Map<string, ReadonlyMap<string, readonly IndexedValue[]>>();
  readonly #report: (error: unknown) => void;

  constructor(functions: Readonly<Record<string, IndexFunction<T>>>, report: (error: unknown) => void) {
    this.#functions = new Map(Object.entries(functions));
    this.#report = report;
    for (const index of this.#functions.keys()) this.#names.set(index, new Map());
  }

  names(index: string, value: IndexedValue): Iterable<string> {
    const byValue = this.#names.get(index);
    if (byValue === undefined) throw new TypeError(`the informer has no index ${JSON.stringify(index)}`);
    return byValue.get(value) ?? [];
  }

  /** Updates the indexes for an object. `object` is undefined after a deletion. */
  change(name: string, object: T | undefined): void {
    if (this.#functions.size === 0) return;
    for (const [index, values] of this.#values.get(name) ?? [])
      for (const value of values) this.#remove(index, value, name);
    this.#values.delete(name);
    if (object === undefined) return;
    const valuesOf = new Map<string, readonly IndexedValue[]>();
    for (const [index, compute] of this.#functions) {
      const values = this.#computed(compute, object);
      valuesOf.set(index, values);
      for (const value of values) this.#add(index, value, name);
    }
    this.#values.set(name, valuesOf);
  }

  /** Returns the indexed values of the object. If `compute` throws, reports the error and returns an empty list. */
  #computed(compute: IndexFunction<T>, object: T): readonly IndexedValue[] {
    try {
      return [compute(object) ?? []].flat();
    } catch (error) {
      this.#report(error);
      return [];
    }
  }

  #add(index: string, value: IndexedValue, name: string): void {
    const byValue = this.#names.get(index);
    const names = byValue?.get(value);
    if (names === undefined) byValue?.set(value, new Set([name]));
    else names.add(name);
  }

  #remove(index: string, value: IndexedValue, name: string): void {
    const byValue = this.#names.get(index);
    const names = byValue?.get(value);
    if (names?.delete(name) === true && names.size === 0) byValue?.delete(value);
  }
}
