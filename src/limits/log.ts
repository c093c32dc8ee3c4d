/**
 * Limits of the event log and the read models. Each name ends in its unit. Each limit is tested at n and n + 1, and its
 * error states it.
 */

/** Events read in one batch of the log's own stream: each copy and each restore adds one or two. */
export const platformEventsReadMax = 256;
/** The delays between attempts to reach the log at the start: it recovers within seconds, at little load. */
export const logRetryMsMin = 100;
export const logRetryMsMax = 2_000;
/**
 * The largest difference between a node's clock and the log's before the node refuses writes, and the largest lead of
 * an event's time that later events take over: more than unsynchronized clocks drift in days. And how often the
 * difference is logged.
 */
export const clockDifferenceMsMax = 60_000;
export const clockAlarmMs = 60_000;
/** The interval of progress messages of a long catch-up. */
export const catchUpReportMs = 5_000;
/** Data, metadata and type names of one append: EventStoreDB's limit; far more would break its driver's stream. */
export const appendBytesMax = 1_048_576;
/** The size of the mark on each event of a multi-event append. */
export const appendOverheadBytes = 64;
/** Events of one read model transaction: a commit of 64 rows takes 0.7 ms, which bounds the delay of reads. */
export const projectionBatchEventsMax = 64;
/** Events that a subscription reads ahead of its consumer. */
export const logReadAheadEventsMax = 512;
/** A stream name in UTF-8: with the revision it must fit LMDB's key limit of 1,978 bytes. */
export const streamNameBytesMax = 1_900;
/**
 * Recent events kept for all subscribers: more than the writes that may be in flight, so that an up-to-date subscriber
 * never reads recent events from disk. A power of two, since the index is a bit mask.
 */
export const logRecentEventsMax = 16_384;
/** The size of these events. */
export const logRecentBytesMax = 33_554_432;
/** Bytes of one batch read ahead: a batch ends with the append that exceeds it. */
export const logReadAheadBytesMax = 8_388_608;
/** Concurrent appends of a log copy, by default and at most, and their bytes: the memory of a copy. */
export const logCopyInFlightEvents = 256;
export const logCopyInFlightEventsMax = 4_096;
export const logCopyInFlightBytesMax = 8_388_608;
