/**
 * Bounds of the event log and the read models. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** Events read at once of the stream in which the log speaks of itself: each copy and each restore adds one or two. */
export const platformEventsReadMax = 256;
/** Between two tries to reach the log at the start: soon enough to be back within seconds, and no load on one that is down. */
export const logRetryMsMin = 100;
export const logRetryMsMax = 2_000;
/**
 * How far a node's clock may be off the log's before it writes nothing, and an event's time ahead of it before later ones
 * do not follow it: above what unsynchronised clocks drift in days. And how often that is reported.
 */
export const clockDifferenceMsMax = 60_000;
export const clockAlarmMs = 60_000;
/** How often a long catch-up says how far it is: often enough to see that it goes on. */
export const progressToldMs = 5_000;
/** Data, metadata and type names of one append: EventStoreDB takes no more; far more would end its driver's stream. */
export const appendBytesMax = 1_048_576;
/** What an event of an append of several is marked with, at most. */
export const appendOverheadBytes = 64;
/** Events of one read-model transaction: a commit of 64 rows takes 0.7 ms, which bounds what a read waits. */
export const projectionBatchEventsMax = 64;
/** Events a log subscription reads ahead of its consumer. */
export const logReadAheadEventsMax = 512;
/** A stream's name in UTF-8: with its revision it must fit LMDB's key of 1,978 bytes. */
export const streamNameBytesMax = 1_900;
/**
 * How many recent events are kept for subscribers, together: above the writes that may be in flight at once, so that a
 * subscriber that keeps up never reads what was just written back from disk. A power of two, as places are found by mask.
 */
export const logRecentEventsMax = 16_384;
/** … and of how many bytes: events may be large. */
export const logRecentBytesMax = 33_554_432;
/** Bytes of one batch read ahead: past it a batch ends with the append that passed it. */
export const logReadAheadBytesMax = 8_388_608;
/** Appends of a copied log on their way at once, unless told otherwise, and their bytes: what a copy holds in memory. */
export const logCopyInFlightEvents = 256;
export const logCopyInFlightEventsMax = 4_096;
export const logCopyInFlightBytesMax = 8_388_608;
