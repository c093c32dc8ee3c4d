/**
 * Limits of custom APIs and of uploads, in addition to the limits in `src/limits` (for example the time of a route, the
 * size of a body, and the number of a plugin's routes).
 */

/**
 * The maximum number of open server-sent event streams and WebSockets, in total and per plugin. Above either, the
 * response is 429.
 */
export const pluginStreamsMax = 10_000;
export const pluginStreamsPerPluginMax = 2_000;

/** The maximum size of one encoded event in bytes. A larger event ends its stream, as an error of the plugin. */
export const pluginEventBytesMax = 1_048_576;
/** The time for which a client may leave data unread before its stream ends. */
export const pluginStreamUnreadMs = 60_000;

/**
 * The maximum size in bytes of a WebSocket message in either direction. A larger message from the client closes the
 * socket with code 1009. For a larger message from the plugin, `send` throws.
 */
export const pluginSocketMessageBytesMax = 1_048_576;
/**
 * The maximum numbers of frames of one message, and of received chunks that are not parsed yet. Both numbers allow the
 * largest message in small segments.
 */
export const pluginSocketFragmentsMax = 1_024;
export const pluginSocketChunksMax = 4_096;
/** The maximum number of unsent bytes. A message that would exceed the limit is refused. */
export const pluginSocketWaitingBytesMax = 1_048_576;
/**
 * The maximum number of bytes of consecutive refused messages. Above it, the socket is closed with code 1013, because
 * the plugin ignores the result of `send`, and the client has missed too much.
 */
export const pluginSocketRefusedBytesMax = 4_194_304;
/**
 * The maximum number of received messages that the plugin has not consumed, and of their bytes. At either limit,
 * reading pauses.
 */
export const pluginSocketQueuedMessagesMax = 64;
export const pluginSocketQueuedBytesMax = 1_048_576;
/**
 * The longest pause of reading. After a longer pause, the socket is closed with code 1013, since the end of a
 * connection is not detected during a pause.
 */
export const pluginSocketUnreadMs = 60_000;

/** The maximum number of concurrent uploads, since received bytes are in memory. Above it, the response is 429. */
export const uploadsMax = 8;
/**
 * An upload is checked every `uploadLookMs`. A check fails if the server has received fewer than `uploadLookBytesMin`
 * bytes since the last check. After `uploadSlowLooksMax` failed checks in a row, the upload is refused, because it
 * occupies one of the few slots.
 */
export const uploadLookMs = 2_000;
export const uploadLookBytesMin = 16_384;
export const uploadSlowLooksMax = 2;
