/** Limits of watches. Each name ends in its unit. Each limit is tested at n and n + 1, and its error states it. */

export const watchersMax = 10_000;
/** Unread bytes of one watcher before it is disconnected: a slow browser tab must not hold unlimited memory. */
export const watchBufferedBytesMax = 4_194_304;
/** A watch without events sends a keep-alive after this time. */
export const watchKeepAliveMs = 10_000;
export const watchBookmarkMs = 15_000;
export const watchTimeoutSecondsMax = 86_400;
/** The bytes of one frame of a watching client; its content is ignored. */
export const watchClientFrameBytesMax = 4_096;
/** The time that a watch waits for a position ahead of the log before 410. */
export const watchAheadWaitMs = 2_000;
/** The retry interval of a watch that needs an unavailable log. */
export const watchLogRetryMs = 1_000;
/** Digits of a resourceVersion: 10¹⁹ positions for each epoch, and more epochs than will be used. */
export const resourceVersionDigitsMax = 24;
/** The time for which a watch may continue after its credential has expired. Changed rights end it at once. */
export const watchGuardMs = 5_000;
/** Watchers that read the past concurrently; others queue. Each may hold a batch of the log and a slice of frames. */
export const watchCatchUpsMax = 32;
/** Streams for which a catch-up records whether their object is selected, so that most changes need no second read. */
export const watchRememberedStreamsMax = 8_192;
/** The time for which a watcher in catch-up may consume nothing, since it occupies one of few slots. */
export const watchCatchUpStallMs = 10_000;
/** The time for which the rest of an ended stream may stay unread before the connection is closed: it holds memory. */
export const watchStreamEndMs = 5_000;
/** How long a closing handshake may take before the connection is closed. */
export const watchSocketCloseMs = 5_000;
/** Fragments of one client message, and received chunks that are not parsed yet: clients need few. */
export const watchClientFragmentsMax = 64;
export const watchClientChunksMax = 1_024;
/**
 * Unread bytes of all watches on this node, and of one user (one address for visitors). Above either, the watcher that
 * is furthest behind is disconnected. A shared buffer counts once.
 */
export const watchBuffersBytesMax = 268_435_456;
export const watchUserBuffersBytesMax = 67_108_864;
/** The overhead of a buffer and of its queue entry, so that many small ones cannot evade the limits. */
export const watchFrameOverheadBytes = 256;
export const watchQueuedFrameBytes = 16;
/**
 * The bytes up to which queued small frames are joined for one write: a write for each would cost more than the copy.
 */
export const watchJoinedWriteBytesMax = 32_768;
/** The time in one turn of the event loop for writing to watchers and ending them; the rest waits for the next turn. */
export const watchTurnMs = 8;
/** The time in one turn of the event loop for all catch-ups, and for one of them before another runs. */
export const watchCatchUpTurnMs = 4;
export const watchCatchUpSliceMs = 2;
export const watchCatchUpSliceBytes = 65_536;
/** Unread bytes of a peer at which its catch-up pauses and releases its slot. */
export const watchCatchUpUnreadBytesMax = 262_144;
/** The least size of an object whose table or bare metadata is kept for a second, and the total size of these. */
export const shownObjectBytesMin = 16_384;
export const shownObjectsBytesMax = 4_194_304;
