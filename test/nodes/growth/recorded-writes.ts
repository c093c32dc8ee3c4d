/** The states that an object may have, by the responses to its writer. Each object has one writer at a time. */
type Known = {
  /** The labels of the last acknowledged write, and of later writes with an unknown outcome. */
  readonly possible: readonly string[];
};

/** What the clients were told: the writes that must be in the log, and the refusals. */
export class RecordedWrites {
  readonly #known = new Map<string, Known>();
  /** The number of retryable refusals, by detail. */
  readonly retryable = new Map<string, number>();
  /** Refusals and responses that no client expects. */
  readonly surprises: string[] = [];
  acknowledged = 0;
  /** The shortest time until a retryable refusal. */
  shortestWaitMs = Infinity;

  names(): readonly string[] {
    return [...this.#known.keys()];
  }

  acknowledge(name: string, turn: string): void {
    this.acknowledged += 1;
    this.#known.set(name, { possible: [turn] });
  }

  /** A write answered with 503 may be applied later, at most once. */
  retry(
    name: string,
    turn: string,
    { detail, waitedMs }: { readonly detail: string; readonly waitedMs: number },
  ): void {
    if (waitedMs < this.shortestWaitMs) this.shortestWaitMs = waitedMs;
    const { possible = ['none'] } = this.#known.get(name) ?? {};
    this.#known.set(name, { possible: [...possible, turn] });
    this.retryable.set(detail, (this.retryable.get(detail) ?? 0) + 1);
  }

  /** Returns whether the object has the state of the last acknowledged write or of a later one. */
  allows(name: string, turn: string | undefined): boolean {
    return this.#known.get(name)?.possible.includes(turn ?? 'none') ?? turn === undefined;
  }
}
