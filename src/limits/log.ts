/** Limits of the event log and the read models. Each name contains its unit. */

/**
 * The most events that one read of the stream `platform:log` returns. The stream has one event in a new log and two
 * events in a finished copy. Each restore of a log adds one event.
 */
export const platformEventsReadMax = 256;
/**
 * The shortest and the longest delay between two attempts to reach an unavailable log. The server thus connects soon
 * after the log is available again, and the attempts cause little load.
 */
export const logRetryMsMin = 100;
export const logRetryMsMax = 2_000;
/**
 * The largest accepted clock difference, and the shortest interval between two log messages about larger differences. A
 * node refuses writes if its clock differs from the log's clock by more than the limit. If the time of an event is
 * further in the future than the limit, later events do not adopt this time. Clocks that are not synchronized need days
 * to reach this difference.
 */
export const clockDifferenceMsMax = 60_000;
export const clockAlarmMs = 60_000;
/** The shortest interval between two progress messages of a catch-up. */
export const catchUpReportMs = 5_000;
/**
 * The most bytes of the data, metadata and type names of one append. This is EventStoreDB's limit. If an append is much
 * larger, the stream of EventStoreDB's client library fails.
 */
export const appendBytesMax = 1_048_576;
/**
 * The bytes that are reserved in the metadata of an event for its place in an append of several events, such as
 * `"$append":"2/3"` in EventStoreDB.
 */
export const appendOverheadBytes = 64;
/**
 * The most events that are folded into the object read models in one transaction. A commit of 64 rows takes 0.7 ms, so
 * reads are not delayed for long.
 */
export const projectionBatchEventsMax = 64;
/** The most events in one batch of a read or subscription of a log. Only a single larger append may exceed it. */
export const logReadAheadEventsMax = 512;
/**
 * The most bytes of a stream name in UTF-8. The name and the revision must fit into LMDB's key limit of 1,978 bytes.
 */
export const streamNameBytesMax = 1_900;
/**
 * The most recent events that are kept in memory for all subscribers. The number exceeds the most writes in flight, so
 * a subscriber that keeps up does not read from the disk. The number is a power of two, so that the JavaScript engine
 * can compute the index of an event with a bit mask.
 */
export const logRecentEventsMax = 16_384;
/** The most bytes of these recent events. */
export const logRecentBytesMax = 33_554_432;
/**
 * A batch of events that is read from the log ends when it has this number of bytes. In forward reads of the embedded
 * log, the batch then ends with a whole append.
 */
export const logReadAheadBytesMax = 8_388_608;
/**
 * The default and the maximum number of concurrent appends of a log copy, and the most bytes of these appends. The
 * bytes limit the memory of the copy.
 */
export const logCopyInFlightEvents = 256;
export const logCopyInFlightEventsMax = 4_096;
export const logCopyInFlightBytesMax = 8_388_608;
