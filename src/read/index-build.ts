/**
 * Stored objects for which an index function fails: their number, the first name, and the first error with its stack.
 */
export type Unindexed = {
  readonly count: number;
  readonly first?: string;
  readonly problem?: string;
  readonly trace?: string;
};

/**
 * Reports the number of rows read and the total. The sort after the last row is not reported, but takes about as long
 * as the reads.
 */
export type BuildProgress = (done: number, total: number) => void;
