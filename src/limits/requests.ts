/** The most bytes of one request body. An object of the maximum size (768 KiB) fits, with usual indentation. */
export const requestBodyBytesMax = 1_048_576;
/** The most bytes of a protobuf body. Only access reviews and the options of deletions are sent as protobuf. */
export const protobufBodyBytesMax = 65_536;
/** The most bytes of a YAML body. The parser needs some milliseconds for each KiB, in a separate thread. */
export const yamlBodyBytesMax = 262_144;
/**
 * The longest time for parsing one YAML body. Meanwhile other YAML bodies wait. The slowest body within the size limit
 * takes one second on an idle machine.
 */
export const yamlReadMs = 5_000;
/** The time without YAML bodies after which the parser's thread ends. */
export const yamlIdleMs = 30_000;
/** The maximum heap of the YAML parser's thread, in MiB. For each byte of YAML, the parser uses up to a kilobyte. */
export const yamlHeapMegabytesMax = 512;
/**
 * The deepest nesting of JSON from clients, plugins and identity providers. Recursive functions could exceed the stack
 * with deeper JSON.
 */
export const jsonDepthMax = 128;
/** The most bytes of the headers and the request line together. The longest percent-encoded selector fits. */
export const requestHeadersBytesMax = 131_072;
/** The most bytes of path and query of one request. Above this limit, the status is 400. */
export const requestTargetBytesMax = 65_536;
export const queryParametersMax = 64;
/** The most validation errors in one response. They are enough to correct a body in one attempt. */
export const validationErrorsMax = 64;
/** The most media ranges that are read from one `Accept` header. Further ranges are ignored. */
export const acceptedRangesMax = 64;
/** The most `Accept` headers that are cached in parsed form. */
export const acceptHeadersKeptMax = 64;
/** The maximum length of an `Accept` header that is cached in parsed form. */
export const acceptHeaderKeptLengthMax = 512;
/** The longest time from SIGTERM to the exit of the process. */
export const shutdownMs = 10_000;
/**
 * The maximum length of a stored `User-Agent` header. A longer header is truncated, because every event of a write
 * contains the header.
 */
export const userAgentLengthMax = 256;
/** The time limits for a client to send the headers, the whole request, and the next request of the same connection. */
export const headersTimeoutMs = 20_000;
export const requestTimeoutMs = 60_000;
export const keepAliveTimeoutMs = 65_000;
/**
 * After its last response, the server keeps a connection open for this time, so that the peer can read the response.
 */
export const lingerMs = 1_000;
/**
 * The bytes after which a connection is not read further while its parser waits for the responses to earlier requests.
 */
export const readAheadBytesMax = 65_536;
/** The interval at which connections are checked against `headersTimeoutMs` and `requestTimeoutMs`. */
export const connectionsCheckMs = 1_000;
/** A body of at least this size is large: its decoding may take milliseconds. */
export const bodyTurnBytesMin = 16_384;
/** The time in each turn of the event loop for decoding large bodies, for all large bodies together. */
export const bodyTurnMs = 4;
/** The time in each turn of the event loop for starting requests. TLS handshakes have the same limit. */
export const requestTurnMs = 10;
/** The number of requests in a turn that start without a check of `requestTurnMs`. */
export const untimedRequestsMax = 16;
/**
 * The interval between two samples of a node's figures, and the number of samples in memory. The samples cover one hour
 * and use about 50 KB.
 */
export const sampleMs = 10_000;
export const samplesMax = 360;
