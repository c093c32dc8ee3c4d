import type { ColumnBounds } from './column-bounds.ts';
import { Chunk } from './row-chunk.ts';
import type { ColumnLayout } from './segment/column-layout.ts';
import { encodeSegment, type ValueRow } from './segment/segment-writer.ts';
import { LatestRows } from './query/latest-rows.ts';
import { entryAt, Segment, type Segments } from './segment/segment.ts';

export type SnapshotSource = {
  readonly layout: readonly ColumnLayout[];
  /** The segments of the previous snapshot. */
  readonly before: Segments;
  /** The segments of changes since the previous snapshot. */
  readonly changes: Segments;
};

const rowsPerStep = 64;

/** Yields the encoded segments of a snapshot, in order. Yields undefined where other work may run. */
export function* snapshotChunks(
  source: SnapshotSource,
  bounds: ColumnBounds,
): Generator<Buffer | undefined, undefined, undefined> {
  let read = 0;
  const chunk = new Chunk(bounds);
  for (const row of snapshotRows(source)) {
    if (row === undefined || ++read % rowsPerStep === 0) yield;
    if (row !== undefined) chunk.add(row);
    if (chunk.isFull()) yield yield* encodeSegment(chunk.take(), source.layout);
  }
  if (chunk.size > 0) yield yield* encodeSegment(chunk.take(), source.layout);
}

/**
 * Yields one row for each object that exists after the changes, and undefined where other work may run. The rows have
 * no particular order, so that each segment is read at most twice.
 */
export function* snapshotRows({ layout, before, changes }: SnapshotSource): Generator<ValueRow | undefined, undefined> {
  const latest = new LatestRows();
  let base = 1;
  for (let number = 0; number < changes.count; number++) {
    const { ordinals } = new Segment(changes.read(number), layout);
    for (let row = 0; row < ordinals.length; row++) latest.set(ordinals.at(row), base + row);
    base += ordinals.length;
    yield undefined;
  }
  for (let number = 0; number < before.count; number++)
    yield* rowsOf(copyOf(before, number, layout), layout, (_row, ordinal) => latest.get(ordinal) === 0);
  base = 1;
  for (let number = 0; number < changes.count; number++) {
    const segment = copyOf(changes, number, layout);
    const first = base;
    yield* rowsOf(segment, layout, (row, ordinal) => latest.get(ordinal) === first + row);
    base += segment.rows;
  }
}

/** Returns a copy of a segment, which stays valid while other work runs. */
function copyOf(segments: Segments, number: number, layout: readonly ColumnLayout[]): Segment {
  return new Segment(Buffer.from(segments.read(number)), layout);
}

function* rowsOf(
  segment: Segment,
  layout: readonly ColumnLayout[],
  isWanted: (row: number, ordinal: number) => boolean,
): Generator<ValueRow | undefined, undefined> {
  yield undefined;
  for (let row = 0; row < segment.rows; row++) {
    const ordinal = segment.ordinals.at(row);
    const entry = isWanted(row, ordinal) ? entryAt(segment, row, layout.length) : undefined;
    if (entry !== undefined) yield { ordinal, position: 0, entry };
  }
}
