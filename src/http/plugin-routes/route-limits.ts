/** Limits of custom APIs, besides those in `src/limits` (a route's time limit, a body, a plugin's routes). */

/** Open server-sent event streams and WebSockets, in total and of one plugin; above either, 429. */
export const pluginStreamsMax = 10_000;
export const pluginStreamsPerPluginMax = 2_000;

/** The bytes of one encoded event. A larger event ends its stream, as an error of the plugin. */
export const pluginEventBytesMax = 1_048_576;
/** The time for which a reader may leave data unread and still occupy a stream. */
export const pluginStreamUnreadMs = 60_000;

/**
 * The bytes of one WebSocket message in either direction. A larger one of a caller closes the socket with 1009, a
 * plugin's throws.
 */
export const pluginSocketMessageBytesMax = 1_048_576;
/** Frames of one message, and received chunks that are not parsed yet: the largest message in small segments fits. */
export const pluginSocketFragmentsMax = 1_024;
export const pluginSocketChunksMax = 4_096;
/** Unsent bytes: a message that would exceed this is refused. */
export const pluginSocketWaitingBytesMax = 1_048_576;
/**
 * Bytes of messages refused in a row. Above it the socket is closed (1013): the plugin ignores the result of `send`,
 * and the reader has missed too much.
 */
export const pluginSocketRefusedBytesMax = 4_194_304;
/** Received messages that the plugin has not consumed, and their bytes; above either, reading pauses. */
export const pluginSocketQueuedMessagesMax = 64;
export const pluginSocketQueuedBytesMax = 1_048_576;
/** The longest pause of reading before the socket is closed (1013), since its end is not detected meanwhile. */
export const pluginSocketUnreadMs = 60_000;

/** Concurrent uploads, each of which holds its received bytes in memory; above it, 429. */
export const uploadsMax = 8;
/**
 * The interval of an upload's progress checks, the least bytes in an interval, and the failed checks after which the
 * upload is refused: others wait for its slot.
 */
export const uploadLookMs = 2_000;
export const uploadLookBytesMin = 16_384;
export const uploadSlowLooksMax = 2;
