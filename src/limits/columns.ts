/** Limits of the columns for lists as of a position. Each name ends in its unit. */

/** Rows of one segment of columns, and their estimated bytes. The rows of the last segments are held in memory. */
export const columnSegmentRowsMax = 1_024;
export const columnSegmentBytesMax = 1_048_576;
/** Rows of one type in memory while they cannot be written; with more they are read from the log again. */
export const columnRowsBytesMax = 16_777_216;
/** Changes after a snapshot of columns before the next one, however few objects there are. */
export const columnChangesMin = 16_384;
/** Changes of a type that are kept for it while its earlier ones are read from the log. */
export const columnLaterRowsMax = 65_536;
/** How often columns that are not full are written: a crash then leaves little to read from the log again. */
export const columnFlushMs = 60_000;
/** Lists as of a position that are computed at the same time; others queue, and users take turns. */
export const columnQueriesMax = 2;
/** Objects of such a list that are read from the log at the same time. */
export const columnReadsMax = 8;
/** How long a list waits for columns that are being read from the log. */
export const columnsWaitMs = 2_000;
