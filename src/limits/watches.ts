/**
 * Limits of watches. Each name contains its unit. A test checks each limit at n and n + 1, and each error message
 * states the limit.
 */

export const watchersMax = 10_000;
/**
 * The unread bytes of one watcher above which the watcher is disconnected. A slow browser tab must not use unlimited
 * memory.
 */
export const watchBufferedBytesMax = 4_194_304;
/** A watch without events sends a keep-alive after this time. */
export const watchKeepAliveMs = 10_000;
export const watchBookmarkMs = 15_000;
export const watchTimeoutSecondsMax = 86_400;
/** The most bytes of one frame from a watching client. The content of the frame is ignored. */
export const watchClientFrameBytesMax = 4_096;
/** The time that a watch waits for a position ahead of the log. After this time, the status is 410. */
export const watchAheadWaitMs = 2_000;
/** The retry interval of a watch that needs an unavailable log. */
export const watchLogRetryMs = 1_000;
/**
 * The most digits of a resourceVersion: enough for 10¹⁹ positions in each epoch, and for more epochs than a log will
 * ever have.
 */
export const resourceVersionDigitsMax = 24;
/**
 * The time for which a watch may continue after its credential has expired. A loss of rights ends the watch at once.
 */
export const watchGuardMs = 5_000;
/**
 * The most watchers that catch up concurrently; further watchers queue. Each of them may hold a batch of the log and a
 * slice of frames.
 */
export const watchCatchUpsMax = 32;
/**
 * The most streams for which a catch-up caches whether the watch selects the stream's object, so that most changes need
 * no second read.
 */
export const watchRememberedStreamsMax = 8_192;
/**
 * The time for which a watcher that catches up may consume nothing. The time is limited because there are few slots for
 * catch-ups.
 */
export const watchCatchUpStallMs = 10_000;
/**
 * The time for which the rest of an ended stream may stay unread before the connection is closed. Unread data uses
 * memory.
 */
export const watchStreamEndMs = 5_000;
/** How long a closing handshake may take before the connection is closed. */
export const watchSocketCloseMs = 5_000;
/**
 * The most fragments of one message from a client, and the most unparsed chunks of one connection. Clients need few of
 * both.
 */
export const watchClientFragmentsMax = 64;
export const watchClientChunksMax = 1_024;
/**
 * The most unread bytes of all watches on this node, and of all watches of one user (for visitors, of one address).
 * Above either limit, the watcher that is furthest behind is disconnected. A buffer that several watchers share is
 * counted once.
 */
export const watchBuffersBytesMax = 268_435_456;
export const watchUserBuffersBytesMax = 67_108_864;
/**
 * The overhead of a buffer and of an entry in the queue. The overhead is counted so that many small buffers cannot
 * evade the limits.
 */
export const watchFrameOverheadBytes = 256;
export const watchQueuedFrameBytes = 16;
/**
 * The bytes up to which queued small frames are joined into one write. A separate write for each frame would cost more
 * than the copy.
 */
export const watchJoinedWriteBytesMax = 32_768;
/**
 * The time in one turn of the event loop for writing to watchers and ending watches. Remaining work waits for the next
 * turn.
 */
export const watchTurnMs = 8;
/**
 * The time in one turn of the event loop for all catch-ups, and the time and bytes after which one catch-up yields to
 * another.
 */
export const watchCatchUpTurnMs = 4;
export const watchCatchUpSliceMs = 2;
export const watchCatchUpSliceBytes = 65_536;
/** The unread bytes of a peer at which its catch-up pauses and releases its slot. */
export const watchCatchUpUnreadBytesMax = 262_144;
/**
 * The smallest size of an object whose table row or bare metadata is cached for a second, and the total size of this
 * cache.
 */
export const shownObjectBytesMin = 16_384;
export const shownObjectsBytesMax = 4_194_304;
