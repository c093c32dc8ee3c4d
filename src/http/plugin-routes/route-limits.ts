/** Limits of custom APIs, besides those in `src/limits` (a route's time limit, a body, a plugin's routes). */

/** Open server-sent event streams and WebSockets, in total and of one plugin: past it 429. */
export const pluginStreamsMax = 10_000;
export const pluginStreamsPerPluginMax = 2_000;

/** One encoded event. A larger one ends its stream, as an error of the plugin. */
export const pluginEventBytesMax = 1_048_576;
/** How long a reader may leave data unread: until then it occupies a stream. */
export const pluginStreamUnreadMs = 60_000;

/** One WebSocket message in either direction. A caller's larger one is closed with 1009, a plugin's throws. */
export const pluginSocketMessageBytesMax = 1_048_576;
/**
 * Frames of one message, and received chunks that are not parsed yet: a message of that size in small segments fits.
 */
export const pluginSocketFragmentsMax = 1_024;
export const pluginSocketChunksMax = 4_096;
/** Unsent bytes: a message that would exceed this is refused. */
export const pluginSocketWaitingBytesMax = 1_048_576;
/**
 * Bytes refused in a row: past it the plugin ignores the result of `send`, and the socket is closed (1013), since its
 * reader has missed too much.
 */
export const pluginSocketRefusedBytesMax = 4_194_304;
/** Received messages that the plugin has not consumed, and their bytes: past either, reading pauses. */
export const pluginSocketQueuedMessagesMax = 64;
export const pluginSocketQueuedBytesMax = 1_048_576;
/** How long reading may be paused before the socket is closed (1013): its end is not detected meanwhile. */
export const pluginSocketUnreadMs = 60_000;

/** Concurrent uploads: each holds its received bytes in memory. Past it 429. */
export const uploadsMax = 8;
/**
 * The interval of progress checks of an upload, the least bytes in one, and the failed checks after which it is
 * refused: others wait for its slot.
 */
export const uploadLookMs = 2_000;
export const uploadLookBytesMin = 16_384;
export const uploadSlowLooksMax = 2;
