/** Limits of the column store, which serves lists of the state at an earlier position of the log. */

/** A segment of columns ends when it has this number of rows, or rows of this estimated size. */
export const columnSegmentRowsMax = 1_024;
export const columnSegmentBytesMax = 1_048_576;
/**
 * The most estimated bytes of rows of one type in memory if the rows cannot be written. Above this limit, the rows are
 * dropped. Dropped rows are read from the log again when needed.
 */
export const columnRowsBytesMax = 16_777_216;
/**
 * The fewest changes between two snapshots of a type's columns. If the type has more objects than this number, a
 * snapshot needs as many changes as there are objects.
 */
export const columnChangesMin = 16_384;
/** The most changes of a type that are buffered while earlier changes of the type are read from the log. */
export const columnLaterRowsMax = 65_536;
/**
 * The interval at which incomplete segments are written. After a crash, only later changes are read from the log again.
 */
export const columnFlushMs = 60_000;
/** The most pages of columns (32 KiB each) that are cached for later lists. */
export const columnPagesKeptMax = 128;
/** The most concurrent lists of an earlier state. Further lists queue, and users take turns. */
export const columnQueriesMax = 2;
/** The most objects that one list of an earlier state reads from the log concurrently. */
export const columnReadsMax = 8;
/** The longest time that a list of an earlier state waits until its columns have been read from the log. */
export const columnsWaitMs = 2_000;
