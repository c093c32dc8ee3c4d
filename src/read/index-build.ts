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

/** Rows read, and their maximum: sorting them takes about as long again and is not reported. */
export type BuildProgress = (done: number, total: number) => void;
