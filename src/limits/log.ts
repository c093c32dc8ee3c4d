/**
 * The most events that one read of the stream `platform:log` returns. Each restore of a log adds an event to the
 * stream.
 */
export const platformEventsReadMax = 256;
/** The shortest and the longest delay between two attempts to reach an unavailable log. */
export const logRetryMsMin = 100;
export const logRetryMsMax = 2_000;
/**
 * The largest accepted clock difference. A node refuses writes if its clock differs more from the log's clock. The time
 * of a new event is not before the times of earlier events, except for times that exceed the log's clock by more than
 * this limit.
 */
export const clockDifferenceMsMax = 60_000;
/** The shortest interval between two log messages about too large clock differences. */
export const clockAlarmMs = 60_000;
/** The shortest interval between two progress messages of a catch-up. */
export const catchUpReportMs = 5_000;
/** The most bytes of the data, metadata and type names of one append, as in EventStoreDB. */
export const appendBytesMax = 1_048_576;
/** The bytes that are reserved in an event's metadata for the place in an append, such as `"$append":"2/3"`. */
export const appendOverheadBytes = 64;
/** The most events that are folded into the object read models in one transaction. A commit of 64 rows takes 0.7 ms. */
export const projectionBatchEventsMax = 64;
/** The most events in one batch of a read or subscription of a log. A single larger append may exceed the limit. */
export const logReadAheadEventsMax = 512;
/**
 * The most bytes of a stream name in UTF-8. The name and the revision must fit into LMDB's key limit of 1,978 bytes.
 */
export const streamNameBytesMax = 1_900;
/**
 * The most recent events that are kept in memory for all subscribers. The number exceeds `writesInFlightMax`, so
 * subscribers that keep up do not read from the disk. The number is a power of two, so that the index is a bit mask.
 */
export const logRecentEventsMax = 16_384;
/** The most bytes of the recent events that are kept in memory. */
export const logRecentBytesMax = 33_554_432;
/** A batch of events that is read from the log ends when it has this number of bytes. */
export const logReadAheadBytesMax = 8_388_608;
/** The default and the maximum number of concurrent appends of a log copy. */
export const logCopyInFlightEvents = 256;
export const logCopyInFlightEventsMax = 4_096;
/** The most bytes of concurrent appends of a log copy. */
export const logCopyInFlightBytesMax = 8_388_608;
