/** Runs one call of a function that converts, between two versions in the form `v1alpha1 to v1`. */
export type ConversionWatch = (conversion: string, call: () => unknown) => unknown;

/** Calls the functions that convert objects of a type. The server measures the calls once the type is registered. */
export class VersionCalls {
  #watch: ConversionWatch | undefined;

  run(conversion: string, call: () => unknown): unknown {
    return this.#watch === undefined ? call() : this.#watch(conversion, call);
  }

  measure(watch: ConversionWatch): void {
    this.#watch = watch;
  }
}
