/**
 * Stored objects on which an index function fails: the number of missing values, the first object, and its error with
 * the stack.
 */
export type Unindexed = {
  readonly count: number;
  readonly first?: string;
  readonly problem?: string;
  readonly trace?: string;
};

/** Reports the rows read and their maximum. The sort after the reading takes about as long, and is not reported. */
export type BuildProgress = (done: number, total: number) => void;
