import type { Steps } from '../../../src/base/steps.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { ColumnLayout } from './segment/column-layout.ts';
import type { ValueRow } from './segment/segment-writer.ts';
import { LatestRows } from './query/latest-rows.ts';
import { entryAt, Segment } from './segment/segment.ts';

export type SnapshotSource = {
  readonly layout: readonly ColumnLayout[];
  /** The segments of the previous snapshot. */
  readonly before: Iterable<Buffer>;
  /** The number of segments of changes since the previous snapshot; `change` returns a segment by its number from 0. */
  readonly changes: number;
  readonly change: (number: number) => Buffer;
};

/** The rows of all objects after the changes, in the order of their ordinals. Undefined for a pause or a deletion. */
export function* snapshotRows(source: SnapshotSource): Generator<ValueRow | undefined, undefined> {
  const { layout, before } = source;
  const every = [...layout.keys()];
  const changed = new ChangedRows(source);
  yield* changed.load();
  for (const bytes of before) {
    const segment = new Segment(bytes, layout, every);
    yield undefined;
    for (let row = 0; row < segment.rows; row++) {
      const ordinal = segment.ordinals[row] ?? 0;
      yield* changed.before(ordinal);
      if (!changed.has(ordinal))
        yield { ordinal, position: 0, entry: must(entryAt(segment, row, layout.length), 'a snapshot has objects') };
    }
  }
  yield* changed.before(Infinity);
}

/** The maximum number of decoded segments in memory: rows of consecutive ordinals are mostly in few segments. */
const keptSegments = 32;

/** The last rows of changed objects, in order of their ordinals. */
class ChangedRows {
  readonly #source: SnapshotSource;
  readonly #latest = new LatestRows();
  readonly #segments = new Map<number, Segment>();
  /** The number of the first row of each segment. Row numbers count from 1, over all segments. */
  readonly #starts: number[] = [];
  #ordinals = new Uint32Array(0);
  #next = 0;

  constructor(source: SnapshotSource) {
    this.#source = source;
  }

  *load(): Steps<undefined> {
    const { changes, change, layout } = this.#source;
    const seen: Uint32Array[] = [];
    let start = 1;
    for (let number = 0; number < changes; number++) {
      const { ordinals } = new Segment(change(number), layout, []);
      const fresh = ordinals.filter((ordinal) => this.#latest.get(ordinal) === 0);
      for (let row = 0; row < ordinals.length; row++) this.#latest.set(ordinals[row] ?? 0, start + row);
      seen.push(Uint32Array.from(new Set(fresh)));
      this.#starts.push(start);
      start += ordinals.length;
      yield;
    }
    const all = new Uint32Array(seen.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of seen) {
      all.set(part, at);
      at += part.length;
    }
    this.#ordinals = all.sort();
  }

  has(ordinal: number): boolean {
    return this.#latest.get(ordinal) > 0;
  }

  /** The rows of changed objects up to an ordinal that earlier calls did not yield. Undefined for a deletion. */
  *before(ordinal: number): Generator<ValueRow | undefined, undefined> {
    for (; this.#next < this.#ordinals.length; this.#next++) {
      const own = this.#ordinals[this.#next] ?? 0;
      if (own > ordinal) return;
      const { segment, row } = this.#rowOf(this.#latest.get(own));
      const entry = entryAt(segment, row, this.#source.layout.length);
      yield entry === undefined ? undefined : { ordinal: own, position: 0, entry };
    }
  }

  #rowOf(place: number): { readonly segment: Segment; readonly row: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#starts[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return { segment: this.#segment(low), row: place - (this.#starts[low] ?? 0) };
  }

  #segment(number: number): Segment {
    const { layout, change } = this.#source;
    const known = this.#segments.get(number);
    const segment = known ?? new Segment(change(number), layout, layout.keys());
    this.#segments.delete(number);
    this.#segments.set(number, segment);
    const [oldest = 0] = this.#segments.keys();
    if (this.#segments.size > keptSegments) this.#segments.delete(oldest);
    return segment;
  }
}
