/** The limits of this adapter; shared ones are in src/limits, and the same rules apply. */

/**
 * The time limit of one append or read on a remote log. A reply can be lost for good, so the limit gives an append its
 * outcome; the driver's own limit applies on the server only.
 */
export const logReplyMs = 10_000;
/** How long an append waits for the connection before it is sent; after that the writer should retry. */
export const logSendWaitMs = 5_000;
/** The first and the longest delay before a remote log is retried. */
export const logAskAgainMsMin = 50;
export const logAskAgainMsMax = 2_000;
/** The attempts of one read before its caller gets an error. */
export const logReadAttemptsMax = 3;
/**
 * The attempts to find an event that must exist: a server may report a conflict before the other event is readable, and
 * a deposed leader returns old data. They take three seconds in all.
 */
export const logLookUpsMax = 7;
/** How long a closing log waits for replies, and then for its connections to end. */
export const logCloseMs = 3_000;
/** Events and bytes buffered for a slow reader before the server is paused. */
export const logReceivedEventsMax = 128;
export const logReceivedBytesMax = 2_097_152;
/** Events read backwards in one call to find this log's last one; the first call reads few. */
export const logHeadScanEventsMin = 8;
export const logHeadScanEventsMax = 1_024;
/** Events kept in a lease's stream: only the last one is in force, and earlier ones resolve unknown outcomes. */
export const leaseEventsMax = 16;
/** The length of the reason for an unavailable log: one line. */
export const logReasonLengthMax = 200;
