/** Limits of replays. Each name ends in its unit. They pace the work: no request can exceed them. */

/** The memory of the thread that replays: it folds without indexes, so that it needs little beside one batch. */
export const replayHeapMegabytesMax = 512;
/** The memory of the thread that replays the audit indexes: one batch, and the last blocks of 4,096 terms. */
export const replayAuditHeapMegabytesMax = 256;
/** The events, and the bytes of events, of one transaction of the audit indexes. A larger one writes a page once. */
export const replayAuditBatchEventsMin = 4_096;
export const replayAuditBatchBytesMin = 8_388_608;
/**
 * The memory of the names that a replay of an embedded log holds before it writes them: a name takes about 300 bytes,
 * so that more than half a million objects are written once.
 */
export const replayNamesBytesMax = 201_326_592;
/** The rows of one transaction. */
export const replayWriteBytesMax = 4_194_304;
/** How often a replay reports its progress, and reads the free space of the disk. */
export const replayReportMs = 250;
/**
 * The time that the event loop waits for the thread to open its view of the live tables at the position of this turn.
 * The thread does nothing else then, so it takes a fraction of a millisecond.
 */
export const replayMeetMsMax = 20;
/**
 * The attempts to open the view, and the pause between them; afterwards the machine counts as too busy for a
 * comparison.
 */
export const replayMeetingsMax = 600;
export const replayMeetPauseMs = 100;
/** How long a comparison may hold its views: LMDB cannot reuse pages freed meanwhile. */
export const replayHoldMsMax = 600_000;
/**
 * The share of the event loop that a comparison of indexes takes: so long, then one turn for others; if that turn takes
 * longer than `replayIdleTurnMs`, there are requests, and the comparison pauses.
 */
export const replaySliceMs = 2;
export const replayIdleTurnMs = 0.2;
export const replayPauseMs = 4;
/** Bytes of objects or changes that are sent together. */
export const replayPieceBytesMax = 65_536;
/** The Retry-After while a replay runs, or while indexes are built. */
export const replayRetryAfterSeconds = 5;
