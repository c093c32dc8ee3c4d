/** Limits of custom APIs and of uploads. */

/** The most open streams (server-sent events and WebSockets). Further requests get the status 429. */
export const pluginStreamsMax = 10_000;
/** The most open streams of one plugin. Further requests get the status 429. */
export const pluginStreamsPerPluginMax = 2_000;

/** The maximum size of one encoded event. A larger event ends its stream, as an error of the plugin. */
export const pluginEventBytesMax = 1_048_576;
/** A stream ends if its client leaves data unread for this time. */
export const pluginStreamUnreadMs = 60_000;

/**
 * The maximum size of a WebSocket message in either direction. A larger message from the client closes the socket with
 * code 1009. For a larger message from the plugin, `send` throws.
 */
export const pluginSocketMessageBytesMax = 1_048_576;
/** The most frames of one message. */
export const pluginSocketFragmentsMax = 1_024;
/** The most received chunks of one socket that are not parsed yet. */
export const pluginSocketChunksMax = 4_096;
/** The most unsent bytes of one socket. A message that would exceed the limit is refused. */
export const pluginSocketWaitingBytesMax = 1_048_576;
/**
 * The most bytes of consecutive refused messages. Above this limit, the socket is closed with code 1013, because the
 * plugin ignores the result of `send`.
 */
export const pluginSocketRefusedBytesMax = 4_194_304;
/** Reading pauses at this number of received messages that the plugin has not consumed. */
export const pluginSocketQueuedMessagesMax = 64;
/** Reading pauses at this number of received bytes that the plugin has not consumed. */
export const pluginSocketQueuedBytesMax = 1_048_576;
/**
 * The longest pause of reading. Then the socket is closed with code 1013, because a pause hides the end of a
 * connection.
 */
export const pluginSocketUnreadMs = 60_000;

/** The most concurrent uploads. Further uploads get the status 429. Received bytes are in memory. */
export const uploadsMax = 8;
/** The interval between two checks of an upload's speed. */
export const uploadLookMs = 2_000;
/** A check fails if the server has received fewer bytes since the previous check. */
export const uploadLookBytesMin = 16_384;
/** An upload is refused after this number of failed checks in a row, because uploads occupy one of few slots. */
export const uploadSlowLooksMax = 2;
