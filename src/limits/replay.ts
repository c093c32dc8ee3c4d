/** Limits of replays. Each name contains its unit. The limits pace the work; no request can exceed them. */

/**
 * The maximum memory of the thread that replays. The thread folds without indexes, so it needs little memory besides
 * one batch.
 */
export const replayHeapMegabytesMax = 512;
/**
 * The maximum memory of the thread that replays the audit indexes. The thread needs memory for one batch and for the
 * last blocks of 4,096 terms.
 */
export const replayAuditHeapMegabytesMax = 384;
/**
 * The estimated memory of the events that one transaction of the audit indexes writes: a million events of 100,000
 * objects fit. Larger transactions write the last block of an object or a term fewer times.
 */
export const replayAuditBatchBytesMax = 134_217_728;
/**
 * The maximum memory of the names that a replay of an embedded log collects before it writes them. A name uses about
 * 300 bytes, so more than half a million objects fit, and each of them is written only once.
 */
export const replayNamesBytesMax = 201_326_592;
/** The bytes of rows at which one transaction ends. */
export const replayWriteBytesMax = 4_194_304;
/** How often a replay reports its progress, and reads the free space of the disk. */
export const replayReportMs = 250;
/**
 * The time that the event loop blocks until the thread has opened its view of the live tables at the position of this
 * turn. The thread does nothing else then, so it needs a fraction of a millisecond.
 */
export const replayMeetMsMax = 20;
/**
 * The most attempts to open the view, and the pause between two attempts. After the last attempt, the comparison fails
 * because the machine is too busy.
 */
export const replayMeetingsMax = 600;
export const replayMeetPauseMs = 100;
/** How long a comparison may keep its views open. LMDB cannot reuse the pages that are freed in this time. */
export const replayHoldMsMax = 600_000;
/**
 * The share of the event loop for a comparison of indexes. The comparison runs for `replaySliceMs` and then yields one
 * turn to other work. If that turn takes longer than `replayIdleTurnMs`, the server is serving requests, and the
 * comparison pauses for `replayPauseMs`.
 */
export const replaySliceMs = 2;
export const replayIdleTurnMs = 0.2;
export const replayPauseMs = 4;
/** The most bytes of objects or changes that are sent together. */
export const replayPieceBytesMax = 65_536;
/** The Retry-After while a replay runs, or while indexes are built. */
export const replayRetryAfterSeconds = 5;
