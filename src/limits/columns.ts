/** Limits of the columns for lists as of a position. Each name contains its unit. */

/**
 * The maximum number and the most estimated bytes of the rows in one segment of columns. The rows of the last segments
 * are in memory.
 */
export const columnSegmentRowsMax = 1_024;
export const columnSegmentBytesMax = 1_048_576;
/**
 * The most bytes of the rows of one type in memory while they cannot be written. Above this limit, the rows are dropped
 * and later read from the log again.
 */
export const columnRowsBytesMax = 16_777_216;
/** The fewest changes between two snapshots of columns, even of a type with few objects. */
export const columnChangesMin = 16_384;
/** The most changes of a type that are buffered while earlier changes of the type are read from the log. */
export const columnLaterRowsMax = 65_536;
/**
 * The interval at which incomplete segments are written, so that little must be read from the log again after a crash.
 */
export const columnFlushMs = 60_000;
/** The most concurrent computations of lists as of a position. Further lists queue, and the users alternate. */
export const columnQueriesMax = 2;
/** The most objects that one list as of a position reads from the log concurrently. */
export const columnReadsMax = 8;
/** How long a list waits for columns that are being read from the log. */
export const columnsWaitMs = 2_000;
