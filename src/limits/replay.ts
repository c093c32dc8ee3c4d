/** The maximum heap of the thread that replays the objects. */
export const replayHeapMegabytesMax = 512;
/** The maximum heap of the thread that replays the audit indexes. */
export const replayAuditHeapMegabytesMax = 384;
/**
 * The most estimated memory of the events that one transaction of the audit indexes writes. Each transaction rewrites
 * the last block of each index term, so larger transactions rewrite these blocks less often.
 */
export const replayAuditBatchBytesMax = 134_217_728;
/**
 * The maximum memory of the names that a replay of an embedded log collects. If all names fit, each object is written
 * only once.
 */
export const replayNamesBytesMax = 201_326_592;
/** The size of written rows at which a transaction of a replay ends. */
export const replayWriteBytesMax = 4_194_304;
/** The interval at which a replay reports its progress and reads the free space of the disk. */
export const replayReportMs = 250;
/** The most attempts of a comparison to open its view of live tables or indexes. Then the comparison fails. */
export const replayViewAttemptsMax = 600;
export const replayViewPauseMs = 100;
/** The longest time for which a comparison may keep its views open. Meanwhile LMDB cannot reuse freed pages. */
export const replayHoldMsMax = 600_000;
/** A comparison of indexes runs for this time, and then yields one turn to other work. */
export const replaySliceMs = 2;
/** If the turn of other work takes longer than this time, the comparison pauses for `replayPauseMs`. */
export const replayIdleTurnMs = 0.2;
export const replayPauseMs = 4;
/** The size at which a replay sends the collected lines. */
export const replayPieceBytesMax = 65_536;
/** The `Retry-After` of a refused replay if a retry may succeed, for example because another replay is running. */
export const replayRetryAfterSeconds = 5;
