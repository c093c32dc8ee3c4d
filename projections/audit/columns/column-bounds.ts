import {
  columnChangesMin,
  columnLaterRowsMax,
  columnRowsBytesMax,
  columnSegmentBytesMax,
  columnSegmentRowsMax,
} from '../../../src/limits/columns.ts';

/** Sizes of columns; tests use smaller ones. */
export type ColumnBounds = {
  readonly segmentRows: number;
  readonly segmentBytes: number;
  /** Changes after a snapshot before the next one. */
  readonly changesMin: number;
  /** Changes that are kept while earlier ones are read from the log. */
  readonly laterRows: number;
  /** Estimated bytes of rows of a type in memory. */
  readonly heldBytes: number;
};

export const columnBounds: ColumnBounds = {
  segmentRows: columnSegmentRowsMax,
  segmentBytes: columnSegmentBytesMax,
  changesMin: columnChangesMin,
  laterRows: columnLaterRowsMax,
  heldBytes: columnRowsBytesMax,
};
