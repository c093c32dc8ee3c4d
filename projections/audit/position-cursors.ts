/** The order in which positions are read: `oldest` is ascending, `newest` is descending. */
export type PositionOrder = 'oldest' | 'newest';

/** A sequence of positions in one order. Each position is a whole number, within the epoch. */
export type PositionCursor = {
  /** An upper bound of the number of positions. */
  readonly size: number;
  /** The first position at `from` or after it, in the cursor's order; undefined if no position follows. */
  seek(from: number): number | undefined;
};

export function unionOf(cursors: readonly PositionCursor[], order: PositionOrder): PositionCursor {
  const [only] = cursors;
  if (cursors.length === 1 && only !== undefined) return only;
  const first = order === 'oldest' ? Math.min : Math.max;
  return {
    size: cursors.reduce((sum, { size }) => sum + size, 0),
    seek: (from) =>
      cursors.reduce<number | undefined>((found, cursor) => {
        const next = cursor.seek(from);
        if (next === undefined) return found;
        return found === undefined ? next : first(found, next);
      }, undefined),
  };
}

/**
 * The result of a step of an intersection. `at` is the next common position if `found` is true; otherwise the position
 * from which the next step continues.
 */
export type Step = {
  readonly found: boolean;
  readonly at: number;
};

/** The positions that all cursors have. At least one cursor is needed. */
export class Intersection {
  readonly #cursors: readonly PositionCursor[];

  constructor(cursors: readonly PositionCursor[]) {
    this.#cursors = cursors.toSorted((one, other) => one.size - other.size);
  }

  /** Seeks once in each cursor, so that the caller can limit the time. Returns undefined after the last position. */
  step(from: number): Step | undefined {
    let at = from;
    for (const [index, cursor] of this.#cursors.entries()) {
      const next = cursor.seek(at);
      if (next === undefined) return undefined;
      // This cursor does not have position `at`, so the next step seeks in all cursors from position `next`.
      if (index > 0 && next !== at) return { found: false, at: next };
      at = next;
    }
    return { found: true, at };
  }
}
