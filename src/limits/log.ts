/**
 * Limits of the event log and the read models. Each name contains its unit. A test checks each limit at n and n + 1,
 * and each error message states the limit.
 */

/** The most events read in one batch of the log's own stream: each copy and each restore adds one or two. */
export const platformEventsReadMax = 256;
/**
 * The shortest and longest delay between attempts to reach the log at the start. The server connects within seconds
 * after the log recovers, and the attempts cause little load.
 */
export const logRetryMsMin = 100;
export const logRetryMsMax = 2_000;
/**
 * The largest accepted clock difference, and the interval at which a larger difference is logged. A node refuses writes
 * if its clock differs from the log's clock by more than the limit. If the time of an event is further ahead than the
 * limit, later events ignore that time. Unsynchronized clocks need days to differ by this much.
 */
export const clockDifferenceMsMax = 60_000;
export const clockAlarmMs = 60_000;
/** The interval of progress messages of a long catch-up. */
export const catchUpReportMs = 5_000;
/**
 * The most bytes of data, metadata and type names of one append. This is EventStoreDB's limit; the stream of its driver
 * fails if an append is much larger.
 */
export const appendBytesMax = 1_048_576;
/** The size of the mark on each event of a multi-event append. */
export const appendOverheadBytes = 64;
/**
 * The most events of one read model transaction. A commit of 64 rows takes 0.7 ms. The limit thus bounds the delay of
 * reads.
 */
export const projectionBatchEventsMax = 64;
/** The most events that a subscription reads ahead of its consumer. */
export const logReadAheadEventsMax = 512;
/**
 * The most bytes of a stream name in UTF-8. The name and the revision must fit into LMDB's key limit of 1,978 bytes.
 */
export const streamNameBytesMax = 1_900;
/**
 * The most recent events in memory for all subscribers. The limit exceeds the number of writes that may be in flight,
 * so an up-to-date subscriber never reads recent events from the disk. The number is a power of two, because the index
 * is computed with a bit mask.
 */
export const logRecentEventsMax = 16_384;
/** The most bytes of these recent events. */
export const logRecentBytesMax = 33_554_432;
/**
 * The maximum number of bytes in one batch that is read ahead. The batch ends with the append that exceeds this number.
 */
export const logReadAheadBytesMax = 8_388_608;
/**
 * The number of concurrent appends of a log copy, by default and at most, and the most bytes of these appends, which
 * are the memory of a copy.
 */
export const logCopyInFlightEvents = 256;
export const logCopyInFlightEventsMax = 4_096;
export const logCopyInFlightBytesMax = 8_388_608;
