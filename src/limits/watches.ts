/**
 * Bounds of watches. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

export const watchersMax = 10_000;
/** Bytes one watcher may be behind before it is cut off: a slow browser tab must not hold a page of heap an event. */
export const watchBufferedBytesMax = 4_194_304;
/** Silence after which a watch sends a keep-alive. */
export const watchKeepAliveMs = 10_000;
export const watchBookmarkMs = 15_000;
export const watchTimeoutSecondsMax = 86_400;
/** What a watching client may send in one frame: nothing it says is read. */
export const watchClientFrameBytesMax = 4_096;
/** How long a position ahead of the log is waited for before 410. */
export const watchAheadWaitMs = 2_000;
/** How often a watch that needs a log which does not answer asks for it again. */
export const watchLogRetryMs = 1_000;
/** A resourceVersion's digits: 10¹⁹ positions an epoch, and more epochs than anybody begins. */
export const resourceVersionDigitsMax = 24;
/** How long a watch may go on after its credential has run out. Rights that change end it at once. */
export const watchGuardMs = 5_000;
/** Watchers that read the past at once; others wait their turn. Each may hold a batch of the log and a slice of frames. */
export const watchCatchUpsMax = 32;
/** Streams of which a catch-up remembers whether their object is selected, so that most changes need no second read. */
export const watchRememberedStreamsMax = 8_192;
/** How long a watcher that catches up may leave what it was sent unread: it holds one of the few turns to do so. */
export const watchCatchUpStallMs = 10_000;
/** How long an ended stream may take to be read before its connection is cut: until then it holds what was not read. */
export const watchStreamEndMs = 5_000;
/** How long a closing handshake may take before the connection is cut. */
export const watchSocketCloseMs = 5_000;
/** Pieces of one client message, and of what was received and not yet parsed: nothing a watching client says needs many. */
export const watchClientFragmentsMax = 64;
export const watchClientChunksMax = 1_024;
