import {
  columnChangesMin,
  columnLaterRowsMax,
  columnRowsBytesMax,
  columnSegmentBytesMax,
  columnSegmentRowsMax,
} from '../../../src/limits/columns.ts';

export type ColumnBounds = {
  readonly segmentRows: number;
  readonly segmentBytes: number;
  /** A new snapshot is written only after more changes than `changesMin`. */
  readonly changesMin: number;
  /** The maximum number of new changes in memory while the worker reads earlier changes from the log. */
  readonly laterRows: number;
  /** The maximum estimated bytes of a type's rows in memory. */
  readonly heldBytes: number;
};

export const columnBounds: ColumnBounds = {
  segmentRows: columnSegmentRowsMax,
  segmentBytes: columnSegmentBytesMax,
  changesMin: columnChangesMin,
  laterRows: columnLaterRowsMax,
  heldBytes: columnRowsBytesMax,
};
