/**
 * Limits of requests and connections. Each name contains its unit. A test checks each limit at n and n + 1, and each
 * error message states the limit.
 */

/** The most bytes of one request body: an indented object of 768 KiB fits. */
export const requestBodyBytesMax = 1_048_576;
/** The most bytes of a protobuf body. Such bodies are reviews and options of deletions, with a few hundred bytes. */
export const protobufBodyBytesMax = 65_536;
/** The most bytes of a YAML body. The parser needs some milliseconds for each KiB, in a separate thread. */
export const yamlBodyBytesMax = 262_144;
/**
 * The longest time for reading one YAML body, and thus the longest time that another user's body waits. The slowest
 * body within the size limit takes one second on an idle machine, and three seconds if many processes share the
 * processors.
 */
export const yamlReadMs = 5_000;
/** The time without YAML bodies after which the parser's thread ends. */
export const yamlIdleMs = 30_000;
/** The maximum heap of the YAML parser's thread, in MiB. The parser uses up to a kilobyte for a byte of YAML. */
export const yamlHeapMegabytesMax = 512;
/** The deepest nesting of a JSON body. Deeper input has no legitimate use and endangers recursive readers. */
export const jsonDepthMax = 128;
/** The maximum total bytes of the headers and the request line. The longest percent-encoded selector fits. */
export const requestHeadersBytesMax = 131_072;
/** The most bytes of path and query of one request. Above this limit, the status is 400. The longest selector fits. */
export const requestTargetBytesMax = 65_536;
/** The most query parameters of one request. */
export const queryParametersMax = 64;
/** The most validation errors in one response: enough to correct a body in one attempt. */
export const validationErrorsMax = 64;
/** The most media ranges that are read from one Accept header; further ranges are ignored. Clients send at most ten. */
export const acceptedRangesMax = 64;
/**
 * The maximum number of cached parsed Accept headers, and the longest header that is cached. The cache uses at most a
 * megabyte.
 */
export const acceptHeadersKeptMax = 64;
export const acceptHeaderKeptLengthMax = 512;
/** The time from SIGTERM to exit (decision 11.3). */
export const shutdownMs = 10_000;
/** The longest stored User-Agent. A longer one is truncated, because every event stores the User-Agent. */
export const userAgentLengthMax = 256;
/**
 * The time limits for a client to send the headers, to send the whole request, and between two requests of one
 * connection.
 */
export const headersTimeoutMs = 20_000;
export const requestTimeoutMs = 60_000;
export const keepAliveTimeoutMs = 65_000;
/** The time for which a connection stays open after its last response, so that the peer can read it. */
export const lingerMs = 1_000;
/**
 * The most bytes that are read ahead on a connection while its parser is stopped until the earlier requests have
 * responses.
 */
export const readAheadBytesMax = 65_536;
/**
 * The interval at which connections are checked against these time limits. A late request ends at most this long after
 * the limit.
 */
export const connectionsCheckMs = 1_000;
/**
 * Bodies of at least `bodyTurnBytesMin` together get `bodyTurnMs` of each turn of the event loop, because decoding a
 * large body takes milliseconds.
 */
export const bodyTurnBytesMin = 16_384;
export const bodyTurnMs = 4;
/**
 * The time in each turn of the event loop for simultaneous requests, and the number of requests in a turn that start
 * without a check of the clock.
 */
export const requestTurnMs = 10;
export const untimedRequestsMax = 16;
