/** Occurrences in all runs together: a check without anything to check would pass forever. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  note(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
