/** Limits of watches. Each name contains its unit. */

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
/** The most bytes of one message from the client of a WebSocket watch. The content of the message is ignored. */
export const watchClientFrameBytesMax = 4_096;
/**
 * The time that a watch waits until this node has folded the `resourceVersion` from which the watch starts. After this
 * time, the watch ends with the status 410 if the log ends before this position. Otherwise the watch waits again.
 */
export const watchAheadWaitMs = 2_000;
/** The interval at which a watch that must read the log retries while the log is unavailable. */
export const watchLogRetryMs = 1_000;
/**
 * The most digits of a resourceVersion: enough for 10¹⁹ positions in each epoch, and for more epochs than a log will
 * ever have.
 */
export const resourceVersionDigitsMax = 24;
/**
 * The longest time for which a watch continues after its credential has expired. A loss of rights ends the watch at
 * once.
 */
export const watchGuardMs = 5_000;
/**
 * The most watchers that catch up concurrently; further watchers queue. Each watcher that catches up may hold a batch
 * of events and a slice of frames in memory.
 */
export const watchCatchUpsMax = 32;
/**
 * The most streams for which a catch-up caches whether the previous state of the object matched the watch's selectors.
 * Most changes thus need no read of the previous event.
 */
export const watchRememberedStreamsMax = 8_192;
/**
 * The time after which a watcher that catches up and consumes nothing is disconnected, because there are few slots for
 * catch-ups.
 */
export const watchCatchUpStallMs = 10_000;
/**
 * The longest time for which the last data of an ended watch may stay unread. After this time the connection is closed,
 * because unread data uses memory.
 */
export const watchStreamEndMs = 5_000;
/**
 * The longest time that the server waits for the reply to its WebSocket close frame before it closes the connection.
 */
export const watchSocketCloseMs = 5_000;
/**
 * The most fragments of one WebSocket message from a client, and the most unparsed chunks of one connection. Usual
 * clients send far fewer.
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
 * The bytes that are counted for a buffer in addition to its content, and for an entry in the queue of a watcher. If
 * these bytes were not counted, many small buffers could use more memory than the limits allow.
 */
export const watchFrameOverheadBytes = 256;
export const watchQueuedFrameBytes = 16;
/**
 * The most bytes of queued frames that are joined into one write. A separate write for each small frame would cost more
 * than the copy.
 */
export const watchJoinedWriteBytesMax = 32_768;
/**
 * The time in one turn of the event loop for writing to watchers and ending watches. Remaining work waits for the next
 * turn.
 */
export const watchTurnMs = 8;
/**
 * The time in one turn of the event loop for all catch-ups together, and the time and the bytes after which one
 * catch-up lets others continue.
 */
export const watchCatchUpTurnMs = 4;
export const watchCatchUpSliceMs = 2;
export const watchCatchUpSliceBytes = 65_536;
/** The unread bytes at which a watcher's catch-up pauses and releases its slot. */
export const watchCatchUpUnreadBytesMax = 262_144;
/**
 * Large objects that watches show as table rows or as metadata only are cached in this form for up to a second. The
 * limits are the smallest size of a cached object, and the maximum size of the cache.
 */
export const shownObjectBytesMin = 16_384;
export const shownObjectsBytesMax = 4_194_304;
