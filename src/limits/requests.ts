/**
 * Limits of requests and connections. Each name ends in its unit. Each limit is tested at n and n + 1, and its error
 * states it.
 */

/** One request body: room for an indented object of 768 KiB. */
export const requestBodyBytesMax = 1_048_576;
/** A body of protobuf: reviews and options of deletions, which take a few hundred bytes. */
export const protobufBodyBytesMax = 65_536;
/** A body of YAML: the parser takes some milliseconds for each KiB, in a thread of its own. */
export const yamlBodyBytesMax = 262_144;
/**
 * How long one YAML body may be read, and so how long another user's waits for it at most: the slowest of this size
 * takes a second on an idle machine, and three where many processes share its processors.
 */
export const yamlReadMs = 5_000;
/** How long that thread waits for another body before it ends. */
export const yamlIdleMs = 30_000;
/** The heap of that thread, in MiB: a byte of YAML takes up to a kilobyte in the parser. */
export const yamlHeapMegabytesMax = 512;
/** Nesting of a JSON body. Deeper input has no legitimate use and endangers recursive readers. */
export const jsonDepthMax = 128;
/** Headers and request line together. The longest percent-encoded selector fits. */
export const requestHeadersBytesMax = 131_072;
/** The path and query of one request: 400 past it. The longest selector fits. */
export const requestTargetBytesMax = 65_536;
/** Query parameters of one request. */
export const queryParametersMax = 64;
/** Validation errors in one response: enough to fix a body at once. */
export const validationErrorsMax = 64;
/** Media ranges of one Accept header: later ones are not read. Clients send at most ten. */
export const acceptedRangesMax = 64;
/** Accept headers that are kept parsed, and the longest of them: at most a megabyte in all. */
export const acceptHeadersKeptMax = 64;
export const acceptHeaderKeptLengthMax = 512;
/** The time from SIGTERM to exit (decision 11.3). */
export const shutdownMs = 10_000;
/** Longer values are truncated: they are stored with every event. */
export const userAgentLengthMax = 256;
/** How long a client may take for its headers, for its whole request, and between two requests of one connection. */
export const headersTimeoutMs = 20_000;
export const requestTimeoutMs = 60_000;
export const keepAliveTimeoutMs = 65_000;
/** How long a connection may stay open after its last response: time for the peer to read it. */
export const lingerMs = 1_000;
/** Bytes read ahead on a connection with a stopped parser, until the earlier requests are answered. */
export const readAheadBytesMax = 65_536;
/** How often connections are checked against these time limits: a late request ends at most this much later. */
export const connectionsCheckMs = 1_000;
/**
 * Bodies of at least this size share a part of each turn of the event loop, as decoding a large body takes
 * milliseconds.
 */
export const bodyTurnBytesMin = 16_384;
export const bodyTurnMs = 4;
/**
 * Requests that arrive together share this part of each turn of the event loop; this many are served without measuring.
 */
export const requestTurnMs = 10;
export const untimedRequestsMax = 16;
