/**
 * The stored objects for which an index function fails: their number, the name of the first one, and its error with the
 * stack.
 */
export type Unindexed = {
  readonly count: number;
  readonly first?: string;
  readonly problem?: string;
  readonly trace?: string;
};

/**
 * Reports the number of rows read so far and the total. The sort after the last row takes about as long and is not
 * reported.
 */
export type BuildProgress = (done: number, total: number) => void;
