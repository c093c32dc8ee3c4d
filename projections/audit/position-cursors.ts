/** The direction in which positions are read. */
export type PositionOrder = 'oldest' | 'newest';

/** Positions in one order. Positions are those within the epoch: whole numbers. */
export type PositionCursor = {
  /** The number of all positions, or more: an intersection begins with the rarest. */
  readonly size: number;
  /** The first position at `from` or behind it, in the cursor's order; undefined after the last one. */
  seek(from: number): number | undefined;
};

/** The positions of all cursors together. */
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

/** A step towards the next common position: it, or a place at which to go on. */
export type Step = { readonly found: boolean; readonly at: number };

/** The positions that all cursors have, sought from the rarest. At least one cursor. */
export class Intersection {
  readonly #cursors: readonly PositionCursor[];

  constructor(cursors: readonly PositionCursor[]) {
    this.#cursors = cursors.toSorted((one, other) => one.size - other.size);
  }

  /** One round over the cursors: a caller takes as many as it has time for. Undefined after the last position. */
  step(from: number): Step | undefined {
    let at = from;
    for (const [place, cursor] of this.#cursors.entries()) {
      const next = cursor.seek(at);
      if (next === undefined) return undefined;
      // A later cursor is behind: those before it are asked again from there.
      if (place > 0 && next !== at) return { found: false, at: next };
      at = next;
    }
    return { found: true, at };
  }
}
