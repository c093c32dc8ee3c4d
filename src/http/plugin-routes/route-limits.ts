/**
 * Bounds of what plugins serve themselves, beside those in `limits.ts` (a route's time limit, a body, a plugin's routes).
 */

/** Streams of server-sent events and WebSockets open at once, in all and of one plugin: past it 429. */
export const pluginStreamsMax = 10_000;
export const pluginStreamsPerPluginMax = 2_000;

/** One event as it is sent. A larger one ends its stream: it is the plugin's mistake. */
export const pluginEventBytesMax = 1_048_576;
/** How long a reader may leave what it was sent unread: until then it holds one of the streams. */
export const pluginStreamUnreadMs = 60_000;

/** One message of a WebSocket, either way. A caller's larger one is closed with 1009, a plugin's throws. */
export const pluginSocketMessageBytesMax = 1_048_576;
/** Frames of one message, and chunks of what was received and not yet parsed: a message of that size in small segments fits. */
export const pluginSocketFragmentsMax = 1_024;
export const pluginSocketChunksMax = 4_096;
/** Bytes that wait to be sent: a message that would pass it is not taken. */
export const pluginSocketWaitingBytesMax = 1_048_576;
/** Bytes not taken in a row: past it the plugin does not listen, and the socket is closed (1013), as its reader has missed too much. */
export const pluginSocketRefusedBytesMax = 4_194_304;
/** Messages that came and that the plugin has not asked for, and their bytes: past either no more is read. */
export const pluginSocketQueuedMessagesMax = 64;
export const pluginSocketQueuedBytesMax = 1_048_576;
/** How long a plugin may leave them there before the socket is closed (1013): while nothing is read, its end is not seen. */
export const pluginSocketUnreadMs = 60_000;

/** Packages that arrive at once: each is in memory as far as it has come. Past it 429. */
export const uploadsMax = 8;
/** How often an upload is looked at, how much must have come by then, and after how many looks without it is over: others want its place. */
export const uploadLookMs = 2_000;
export const uploadLookBytesMin = 16_384;
export const uploadSlowLooksMax = 2;
