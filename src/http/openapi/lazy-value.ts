/** A value that is built on the first request after a change of its sources. */
export class LazyValue<T> {
  readonly #revision: () => number;
  readonly #build: () => Promise<T>;
  #value: { readonly revision: number; readonly value: T } | undefined;
  #building: Promise<void> | undefined;

  /** `revision` returns a larger number after each change of a source. */
  constructor(revision: () => number, build: () => Promise<T>) {
    this.#revision = revision;
    this.#build = build;
  }

  /** Returns the value for the present revision; undefined if the value must be built. */
  current(): T | undefined {
    return this.#value?.revision === this.#revision() ? this.#value.value : undefined;
  }

  /** Returns a value that includes all changes before this call. Concurrent calls share a build. */
  async get(): Promise<T> {
    const wanted = this.#revision();
    for (;;) {
      if (this.#value !== undefined && this.#value.revision >= wanted) return this.#value.value;
      this.#building ??= this.#rebuild();
      await this.#building;
    }
  }

  async #rebuild(): Promise<void> {
    const revision = this.#revision();
    try {
      this.#value = { revision, value: await this.#build() };
    } finally {
      this.#building = undefined;
    }
  }
}
