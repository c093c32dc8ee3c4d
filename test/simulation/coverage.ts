/** What has happened in all runs together: a check that never had anything to check would pass for ever. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  note(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  get lines(): readonly string[] {
    return [...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([what, times]) => `${what}: ${String(times)}`);
  }
}
