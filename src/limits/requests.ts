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
 * The longest time for reading one YAML body, and so the longest wait of another user's body. The slowest body of this
 * size takes a second on an idle machine, and three if many processes share its processors.
 */
export const yamlReadMs = 5_000;
/** The time without bodies after which that thread ends. */
export const yamlIdleMs = 30_000;
/** The heap of that thread, in MiB: a byte of YAML takes up to a kilobyte in the parser. */
export const yamlHeapMegabytesMax = 512;
/** Nesting of a JSON body. Deeper input has no legitimate use and endangers recursive readers. */
export const jsonDepthMax = 128;
/** The bytes of headers and request line together; the longest percent-encoded selector fits. */
export const requestHeadersBytesMax = 131_072;
/** The bytes of path and query of one request; above it, 400. The longest selector fits. */
export const requestTargetBytesMax = 65_536;
/** Query parameters of one request. */
export const queryParametersMax = 64;
/** Validation errors in one response: enough to fix a body at once. */
export const validationErrorsMax = 64;
/** Media ranges of one Accept header: later ones are not read. Clients send at most ten. */
export const acceptedRangesMax = 64;
/** The number of cached parsed Accept headers, and their longest length: a megabyte in total at most. */
export const acceptHeadersKeptMax = 64;
export const acceptHeaderKeptLengthMax = 512;
/** The time from SIGTERM to exit (decision 11.3). */
export const shutdownMs = 10_000;
/** The longest stored User-Agent: a longer one is truncated, since it is stored with every event. */
export const userAgentLengthMax = 256;
/** The time limits of a client for its headers, for its whole request, and between two requests of one connection. */
export const headersTimeoutMs = 20_000;
export const requestTimeoutMs = 60_000;
export const keepAliveTimeoutMs = 65_000;
/** The time for which a connection stays open after its last response, so that the peer can read it. */
export const lingerMs = 1_000;
/** Bytes read ahead on a connection with a stopped parser, until the earlier requests are answered. */
export const readAheadBytesMax = 65_536;
/**
 * The interval at which connections are checked against these time limits: a late request ends at most this much later.
 */
export const connectionsCheckMs = 1_000;
/**
 * Bodies of at least this size share a part of each turn of the event loop, as decoding a large body takes
 * milliseconds.
 */
export const bodyTurnBytesMin = 16_384;
export const bodyTurnMs = 4;
/**
 * The part of each turn of the event loop for requests that arrive together, and the number of requests without a
 * measurement.
 */
export const requestTurnMs = 10;
export const untimedRequestsMax = 16;
