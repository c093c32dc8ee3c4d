/**
 * The limits of the EventStoreDB adapter. Limits that other code uses too are in src/limits. Each name contains its
 * unit.
 */

/**
 * The time limit of one append or read on a remote log. If the reply to an append is lost, the append has an unknown
 * outcome when this limit expires. The driver's own limit applies only on the server.
 */
export const logReplyMs = 10_000;
/** The time for which an append waits for the connection before it is sent. After this time the writer should retry. */
export const logSendWaitMs = 5_000;
/** The delay before the first retry of a call of a remote log. */
export const logAskAgainMsMin = 50;
/** The maximum delay before a retry of a call of a remote log. */
export const logAskAgainMsMax = 2_000;
/** The number of attempts of one read before its caller receives an error. */
export const logReadAttemptsMax = 3;
/**
 * The number of attempts to find an event that must exist. A server may report a conflict before the other event is
 * readable, and a deposed leader returns old data. The delays between the attempts add up to three seconds.
 */
export const logLookUpsMax = 7;
/**
 * The time for which a closing log waits for replies, and then for its connections to end. Also the time limit of a
 * test whether a host accepts TLS.
 */
export const logCloseMs = 3_000;
/** The number of events that are buffered for a slow reader before its subscription is paused. */
export const logReceivedEventsMax = 128;
/** The number of bytes that are buffered for a slow reader before its subscription is paused. */
export const logReceivedBytesMax = 2_097_152;
/** The number of events that the first call of a backward read requests, for example to find the last event. */
export const logHeadScanEventsMin = 8;
/** The number of events that later calls request to find the last event of this log. */
export const logHeadScanEventsMax = 1_024;
/**
 * The maximum number of events in a lease's stream. The last event is in force; earlier events resolve unknown
 * outcomes.
 */
export const leaseEventsMax = 16;
/** The maximum length of the reason for an unavailable log, which is one line. */
export const logReasonLengthMax = 200;
