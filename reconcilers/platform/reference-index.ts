type Target = {
  readonly id: string;
  readonly referrers: Set<string>;
  isGone: boolean;
};

/** References in both directions. An object without references uses no memory. */
export class Referrers {
  /** The targets of each referrer, at least one. */
  readonly #targetsOf = new Map<string, readonly Target[]>();
  /** Each target with its referrers, at least one. */
  readonly #targets = new Map<string, Target>();

  /** The number of referrers. */
  get size(): number {
    return this.#targetsOf.size;
  }

  has(referrer: string): boolean {
    return this.#targetsOf.has(referrer);
  }

  all(): Iterable<string> {
    return this.#targetsOf.keys();
  }

  isReferredTo(id: string): boolean {
    return this.#targets.has(id);
  }

  /**
   * The referrers of a target. The iteration includes referrers that are added meanwhile, and omits removed referrers.
   */
  referrersOf(id: string): Iterable<string> {
    return this.#targets.get(id)?.referrers ?? [];
  }

  targetsOf(referrer: string): readonly string[] {
    return (this.#targetsOf.get(referrer) ?? []).map(({ id }) => id);
  }

  /** Records the permanent deletion of a target, if the target has referrers. */
  recordDeleted(id: string): void {
    const target = this.#targets.get(id);
    if (target !== undefined) target.isGone = true;
  }

  isDeleted(id: string): boolean {
    return this.#targets.get(id)?.isGone === true;
  }

  /** Replaces the targets of a referrer. */
  put(referrer: string, ids: readonly string[]): void {
    const before = this.#targetsOf.get(referrer) ?? [];
    const after = [...new Set(ids)].map((id) => this.#target(id));
    for (const { referrers } of after) referrers.add(referrer);
    const kept = new Set(after);
    for (const target of before) if (!kept.has(target)) this.#take(referrer, target);
    if (after.length === 0) this.#targetsOf.delete(referrer);
    else this.#targetsOf.set(referrer, after);
  }

  #target(id: string): Target {
    const known = this.#targets.get(id);
    if (known !== undefined) return known;
    const target = { id, referrers: new Set<string>(), isGone: false };
    this.#targets.set(id, target);
    return target;
  }

  #take(referrer: string, target: Target): void {
    target.referrers.delete(referrer);
    if (target.referrers.size === 0) this.#targets.delete(target.id);
  }
}
