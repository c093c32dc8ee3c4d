/** The limits of the EventStoreDB adapter. Each name contains the unit. */

/** The time limit of one append or read. An append without a reply then has an unknown outcome. */
export const logReplyMs = 10_000;
/** The time for which an append waits for a connection. */
export const logSendWaitMs = 5_000;
/** The delay before the first retry. */
export const logAskAgainMsMin = 50;
/** The maximum delay before a retry. */
export const logAskAgainMsMax = 2_000;
/** The number of attempts of a read. */
export const logReadAttemptsMax = 3;
/**
 * The number of attempts to find an event that must exist. A server may report a conflict before the other event is
 * readable, and a deposed leader returns old data. The delays add up to three seconds.
 */
export const logLookUpsMax = 7;
/**
 * The time for which a closing log waits for replies, and then for its connections to end. A test for TLS has the same
 * time limit.
 */
export const logCloseMs = 3_000;
/** The number of buffered events at which the subscription of a slow reader pauses. */
export const logReceivedEventsMax = 128;
/** The number of buffered bytes at which the subscription of a slow reader pauses. */
export const logReceivedBytesMax = 2_097_152;
/** The number of events that the first call of a backward read requests. */
export const logHeadScanEventsMin = 8;
/** The number of events that each later call requests in a search for the last event of this log. */
export const logHeadScanEventsMax = 1_024;
/**
 * The maximum number of events in a lease's stream. Events before the last one are kept to determine unknown outcomes.
 */
export const leaseEventsMax = 16;
/** The maximum length of the reason for an unavailable log, in UTF-16 units. */
export const logReasonLengthMax = 200;
