/** The bounds of this adapter alone: those that others share are in src/limits, and the same rules hold here. */

/**
 * How long a remote log may take to answer one append or one read. A reply can be lost for good, so this is what settles an
 * append then; the driver's own limit counts only on the server.
 */
export const logReplyMs = 10_000;
/** How long an append waits to be sent while the connection is being made: longer, and the writer had better ask again. */
export const logSendWaitMs = 5_000;
/** The first and the longest pause before a remote log is asked again. */
export const logAskAgainMsMin = 50;
export const logAskAgainMsMax = 2_000;
/** How often one read is asked again before its caller is told that the log cannot be reached. */
export const logReadAttemptsMax = 3;
/**
 * How often what must stand somewhere is looked for, as a server may answer a conflict before what won can be read, and one
 * that leads no more answers as it was before: three seconds.
 */
export const logLookUpsMax = 7;
/** How long a closing log waits for the answers in flight, and then for its connections to end. */
export const logCloseMs = 3_000;
/** Events, and their bytes, received for a reader that is behind, before the server is told to wait. */
export const logReceivedEventsMax = 128;
export const logReceivedBytesMax = 2_097_152;
/** Events read backward at once in search of the last one of ours; the first look is for a few. */
export const logHeadScanEventsMin = 8;
export const logHeadScanEventsMax = 1_024;
/** Events kept of a lease's stream: only the last one counts, the others settle what was in flight. */
export const leaseEventsMax = 16;
/** What operators are told of why the log cannot be reached: a line. */
export const logReasonLengthMax = 200;
