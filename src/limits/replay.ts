/** Limits of replays. Each name contains its unit. */

/**
 * The maximum heap of the thread that replays the objects. The thread folds without indexes, so it needs little memory
 * besides one batch of events.
 */
export const replayHeapMegabytesMax = 512;
/**
 * The maximum heap of the thread that replays the audit indexes. The thread needs memory for one batch of events, and
 * for the last block of each of 4,096 index terms.
 */
export const replayAuditHeapMegabytesMax = 384;
/**
 * The most estimated memory of the events that one transaction of the audit indexes writes. A million events of 100,000
 * objects fit. The larger the transactions, the fewer times the last block of an object or an index term is rewritten.
 */
export const replayAuditBatchBytesMax = 134_217_728;
/**
 * The maximum memory of the names that a replay of an embedded log collects before it writes them. A name uses about
 * 300 bytes, so the names of more than half a million objects fit. If all names fit, each object is written only once.
 */
export const replayNamesBytesMax = 201_326_592;
/** The bytes of rows at which a transaction of a replay ends. */
export const replayWriteBytesMax = 4_194_304;
/** The interval at which a replay reports its progress and reads the free space of the disk. */
export const replayReportMs = 250;
/**
 * The longest time for which the event loop blocks while the replay's thread opens its view of the live tables. The
 * main thread and the replay's thread then have views of the same position. The replay's thread is waiting for this
 * request, so it usually needs a fraction of a millisecond.
 */
export const replayMeetMsMax = 20;
/**
 * The most attempts to open a view of the live tables at the required position, and the pause between two attempts.
 * After the last attempt, the comparison fails.
 */
export const replayMeetingsMax = 600;
export const replayMeetPauseMs = 100;
/**
 * The longest time for which a comparison may keep its views open. Meanwhile LMDB cannot reuse pages that are freed.
 */
export const replayHoldMsMax = 600_000;
/**
 * The share of the event loop for a comparison of indexes. The comparison runs for `replaySliceMs` and then yields one
 * turn to other work. If that turn takes longer than `replayIdleTurnMs`, the server is serving requests, and the
 * comparison pauses for `replayPauseMs`.
 */
export const replaySliceMs = 2;
export const replayIdleTurnMs = 0.2;
export const replayPauseMs = 4;
/** The bytes of objects or changes at which a replay sends the collected lines. */
export const replayPieceBytesMax = 65_536;
/** The `Retry-After` of a replay's refusal that a retry may resolve, for example because another replay is running. */
export const replayRetryAfterSeconds = 5;
