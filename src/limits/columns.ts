/**
 * Limits of the columns, which answer lists in the state at an earlier position of the log. Each name contains its
 * unit.
 */

/**
 * A segment of columns ends when it has this number of rows, or rows of this estimated size. The rows of the last
 * segment of each type are in memory.
 */
export const columnSegmentRowsMax = 1_024;
export const columnSegmentBytesMax = 1_048_576;
/**
 * The most estimated bytes of rows of one type in memory if the rows cannot be written. Above this limit, the rows are
 * dropped and later read from the log again.
 */
export const columnRowsBytesMax = 16_777_216;
/**
 * The fewest changes between two snapshots of a type's columns. If the type has more objects than this number, there
 * must be as many changes as objects.
 */
export const columnChangesMin = 16_384;
/** The most changes of a type that are buffered while earlier changes of the type are read from the log. */
export const columnLaterRowsMax = 65_536;
/**
 * The interval at which incomplete segments are written. After a crash, only later changes must be read from the log
 * again.
 */
export const columnFlushMs = 60_000;
/**
 * The most concurrent computations of lists in the state at an earlier position. Further computations queue, and are
 * started for each user in turn.
 */
export const columnQueriesMax = 2;
/** The most objects that one such list reads from the log concurrently. */
export const columnReadsMax = 8;
/** The longest time that such a list waits until its columns have been read from the log. */
export const columnsWaitMs = 2_000;
