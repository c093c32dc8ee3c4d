import type { IndexEntry } from '../../../src/resource/type/index-entry.ts';
import type { ColumnBounds } from './column-bounds.ts';
import type { ValueRow } from './segment/segment-writer.ts';

/** The rows of the next segment of a snapshot. */
export class Chunk {
  readonly #bounds: ColumnBounds;
  #rows: ValueRow[] = [];
  #bytes = 0;

  constructor(bounds: ColumnBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#rows.length;
  }

  add(row: ValueRow): void {
    this.#rows.push(row);
    this.#bytes += bytesOf(row.entry);
  }

  isFull(): boolean {
    return this.size >= this.#bounds.segmentRows || this.#bytes >= this.#bounds.segmentBytes;
  }

  take(): readonly ValueRow[] {
    const rows = this.#rows;
    [this.#rows, this.#bytes] = [[], 0];
    return rows;
  }
}

const rowBytes = 64;

/** The estimated bytes of an entry in memory. */
export function bytesOf(entry: IndexEntry | undefined): number {
  if (entry === undefined) return rowBytes;
  let bytes = rowBytes + entry.name.length;
  for (const keys of entry.keys) for (const key of keys) bytes += typeof key === 'string' ? 8 + key.length : 8;
  for (const key in entry.labels) bytes += 16 + key.length + (entry.labels[key]?.length ?? 0);
  return bytes;
}
