export const watchersMax = 10_000;
/** A watcher with more unread bytes is disconnected, so that a slow client cannot use unlimited memory. */
export const watchBufferedBytesMax = 4_194_304;
/** A watch without events sends a keep-alive after this time. */
export const watchKeepAliveMs = 10_000;
export const watchBookmarkMs = 15_000;
export const watchTimeoutSecondsMax = 86_400;
/** The most bytes of one message from the client of a WebSocket watch. The content of the message is ignored. */
export const watchClientFrameBytesMax = 4_096;
/**
 * The longest time that a watch waits until this node has folded its `resourceVersion`. Then the status is 410, unless
 * the log contains the position.
 */
export const watchAheadWaitMs = 2_000;
/** The interval at which a watch that must read the log retries while the log is unavailable. */
export const watchLogRetryMs = 1_000;
/** The most digits of a resourceVersion. An epoch has 10¹⁹ positions, so the digits suffice for 10⁵ epochs. */
export const resourceVersionDigitsMax = 24;
/** A watch continues for at most this time after its credential has expired. */
export const watchGuardMs = 5_000;
/** The most watchers that catch up concurrently. Further watchers queue. */
export const watchCatchUpsMax = 32;
/** The most streams for which a catch-up caches whether the object's previous state matched the selectors. */
export const watchRememberedStreamsMax = 8_192;
/**
 * A watcher that catches up and consumes nothing for this time is disconnected, because slots for catch-ups are few.
 */
export const watchCatchUpStallMs = 10_000;
/** The longest time for which the last data of an ended watch may stay unread. Then the connection is closed. */
export const watchStreamEndMs = 5_000;
/** The longest time that the server waits for the reply to its WebSocket close frame. Then the connection is closed. */
export const watchSocketCloseMs = 5_000;
/** The most fragments of one WebSocket message from a client. */
export const watchClientFragmentsMax = 64;
/** The most unparsed chunks of one WebSocket connection. */
export const watchClientChunksMax = 1_024;
/**
 * The most unread bytes of all watches on this node. Above this limit, the watcher that is furthest behind is
 * disconnected. Buffers that several watchers share are counted once.
 */
export const watchBuffersBytesMax = 268_435_456;
/** The most unread bytes of all watches of one user. For visitors, the limit applies to one address. */
export const watchUserBuffersBytesMax = 67_108_864;
/**
 * The bytes that are counted for a buffer in addition to its content. Otherwise, many small buffers could use more
 * memory than the limits allow.
 */
export const watchFrameOverheadBytes = 256;
/** The bytes that are counted for an entry in the queue of a watcher. */
export const watchQueuedFrameBytes = 16;
/**
 * The most bytes of queued frames that are joined into one write. Joining small frames is cheaper than separate writes.
 */
export const watchJoinedWriteBytesMax = 32_768;
/** The time in one turn of the event loop for writing to watchers and ending watches. Remaining work waits. */
export const watchTurnMs = 8;
/** The time in one turn of the event loop for all catch-ups together. */
export const watchCatchUpTurnMs = 4;
/** A catch-up yields to others after this time. */
export const watchCatchUpSliceMs = 2;
/** A catch-up yields to others after this number of bytes. */
export const watchCatchUpSliceBytes = 65_536;
/** A watcher with this number of unread bytes pauses its catch-up and releases its slot. */
export const watchCatchUpUnreadBytesMax = 262_144;
/** The smallest size of an object whose table row or metadata is cached for watches. */
export const shownObjectBytesMin = 16_384;
/** The maximum size of the cache of table rows and metadata for watches. */
export const shownObjectsBytesMax = 4_194_304;
