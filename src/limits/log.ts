/**
 * Limits of the event log and the read models. Each name ends in its unit. Each limit is tested at n and n + 1, and its
 * error states it.
 */

/** Events read in one batch of the log's own stream: each copy and each restore adds one or two. */
export const platformEventsReadMax = 256;
/**
 * The shortest and longest delay between attempts to reach the log at the start: it recovers within seconds, at little
 * load.
 */
export const logRetryMsMin = 100;
export const logRetryMsMax = 2_000;
/**
 * Two uses of one limit: a node refuses writes if its clock differs from the log's by more, and later events ignore an
 * event's time that is further ahead. Unsynchronized clocks drift less in days. And the interval at which the
 * difference is logged.
 */
export const clockDifferenceMsMax = 60_000;
export const clockAlarmMs = 60_000;
/** The interval of progress messages of a long catch-up. */
export const catchUpReportMs = 5_000;
/** Data, metadata and type names of one append: EventStoreDB's limit, far above which its driver's stream fails. */
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
 * Recent events in memory for all subscribers: more than the writes that may be in flight, so an up-to-date subscriber
 * never reads recent events from disk. A power of two, since the index is a bit mask.
 */
export const logRecentEventsMax = 16_384;
/** The bytes of these recent events. */
export const logRecentBytesMax = 33_554_432;
/** The maximum number of bytes in one batch that is read ahead. The batch ends with the append that exceeds it. */
export const logReadAheadBytesMax = 8_388_608;
/** Concurrent appends of a log copy, by default and at most, and their bytes: the memory of a copy. */
export const logCopyInFlightEvents = 256;
export const logCopyInFlightEventsMax = 4_096;
export const logCopyInFlightBytesMax = 8_388_608;
