/** Runs one call of a conversion function. `conversion` names the two versions, such as `v1alpha1 to v1`. */
export type ConversionWatch = (conversion: string, call: () => unknown) => unknown;

/** Calls the conversion functions of a type. The server measures the calls after the type is registered. */
export class VersionCalls {
  #watch: ConversionWatch | undefined;

  run(conversion: string, call: () => unknown): unknown {
    return this.#watch === undefined ? call() : this.#watch(conversion, call);
  }

  measure(watch: ConversionWatch): void {
    this.#watch = watch;
  }
}
