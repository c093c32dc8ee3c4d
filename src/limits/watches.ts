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
/**
 * Bytes that all watches of this node may leave unread together, and those of one user (a visitor's address): past either
 * the one that is furthest behind is cut off. A buffer that several of them share counts once.
 */
export const watchBuffersBytesMax = 268_435_456;
export const watchUserBuffersBytesMax = 67_108_864;
/** What a buffer and its place in a queue cost beside its bytes, so that many small ones are no way past the bounds. */
export const watchFrameOverheadBytes = 256;
export const watchQueuedFrameBytes = 16;
/** Small frames that wait are joined up to here for one write: a write for each would cost more than the copy. */
export const watchJoinedWriteBytesMax = 32_768;
/** Time of one turn of the event loop for writing to watchers and ending them; what is left has the next turn. */
export const watchTurnMs = 8;
/** Time of one turn of the event loop that all catch-ups use together, and what one of them makes before another has its turn. */
export const watchCatchUpTurnMs = 4;
export const watchCatchUpSliceMs = 2;
export const watchCatchUpSliceBytes = 65_536;
/** Bytes of the past that a peer may leave unread before its catch-up waits for it, and gives its place at the log to others. */
export const watchCatchUpUnreadBytesMax = 262_144;
