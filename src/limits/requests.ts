/** Limits of requests and connections. Each name contains its unit. */

/** The most bytes of one request body: an indented object of 768 KiB fits. */
export const requestBodyBytesMax = 1_048_576;
/**
 * The most bytes of a protobuf body. Only access reviews and the options of deletions are sent as protobuf; they have a
 * few hundred bytes.
 */
export const protobufBodyBytesMax = 65_536;
/** The most bytes of a YAML body. The parser needs some milliseconds for each KiB, in a separate thread. */
export const yamlBodyBytesMax = 262_144;
/**
 * The longest time for parsing one YAML body. Meanwhile other YAML bodies wait. The slowest body within the size limit
 * takes one second on an idle machine, and three seconds if many processes share the processors.
 */
export const yamlReadMs = 5_000;
/** The time without YAML bodies after which the parser's thread ends. */
export const yamlIdleMs = 30_000;
/** The maximum heap of the YAML parser's thread, in MiB. The parser uses up to a kilobyte for a byte of YAML. */
export const yamlHeapMegabytesMax = 512;
/**
 * The deepest nesting of JSON from clients, plugins and identity providers. Deeper JSON has no legitimate use, and
 * recursive functions could exceed the stack.
 */
export const jsonDepthMax = 128;
/** The maximum total bytes of the headers and the request line. The longest percent-encoded selector fits. */
export const requestHeadersBytesMax = 131_072;
/** The most bytes of path and query of one request. Above this limit, the status is 400. The longest selector fits. */
export const requestTargetBytesMax = 65_536;
/** The most query parameters of one request. */
export const queryParametersMax = 64;
/** The most validation errors in one response: enough to correct a body in one attempt. */
export const validationErrorsMax = 64;
/**
 * The most media ranges that are read from one `Accept` header; further ranges are ignored. Usual clients send at most
 * ten.
 */
export const acceptedRangesMax = 64;
/**
 * The most `Accept` headers that are cached in parsed form, and the maximum length of a cached header. The cache uses
 * at most a megabyte.
 */
export const acceptHeadersKeptMax = 64;
export const acceptHeaderKeptLengthMax = 512;
/** The longest time from SIGTERM to the exit of the process (decision 11.3). */
export const shutdownMs = 10_000;
/**
 * The maximum length of a stored `User-Agent` header. A longer header is truncated, because every event of a client's
 * write stores the header.
 */
export const userAgentLengthMax = 256;
/**
 * The time limits for a client to send the headers, to send the whole request, and to send the next request of the same
 * connection.
 */
export const headersTimeoutMs = 20_000;
export const requestTimeoutMs = 60_000;
export const keepAliveTimeoutMs = 65_000;
/**
 * The time for which the server keeps a connection open after its last response, so that the peer can read this
 * response.
 */
export const lingerMs = 1_000;
/**
 * The bytes after which a connection is no longer read while its parser is stopped. The parser is stopped until the
 * earlier requests of the connection have responses.
 */
export const readAheadBytesMax = 65_536;
/**
 * The interval at which connections are checked against `headersTimeoutMs` and `requestTimeoutMs`. A late request is
 * ended at most this long after its time limit.
 */
export const connectionsCheckMs = 1_000;
/**
 * The size from which a body is large, and the time in each turn of the event loop for decoding large bodies, for all
 * of them together. The decoding of one large body may take milliseconds.
 */
export const bodyTurnBytesMin = 16_384;
export const bodyTurnMs = 4;
/**
 * The time in each turn of the event loop for starting simultaneous requests, and also for starting simultaneous TLS
 * handshakes. The second limit is the number of requests in a turn that start without a check of this time.
 */
export const requestTurnMs = 10;
export const untimedRequestsMax = 16;
