/**
 * Bounds of requests and connections. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** One request's body. Room for a 768 KiB object with indentation, and no more to hold in memory for a stranger. */
export const requestBodyBytesMax = 1_048_576;
/** Nesting of a JSON body. Deeper input has no honest use and threatens recursive readers. */
export const jsonDepthMax = 128;
/** Headers and request line together. A selector at its limit, percent-encoded, still fits. */
export const requestHeadersBytesMax = 131_072;
/** The path and query of one request: answered 400 past it, as a selector at its limit fits. */
export const requestTargetBytesMax = 65_536;
/** Query parameters of one request. */
export const queryParametersMax = 64;
/** Validation errors reported at once: enough to fix a body in one go, not a megabyte of them. */
export const validationErrorsMax = 64;
/** SIGTERM to exit (decision 11.3). */
export const shutdownMs = 10_000;
/** Longer ones are cut: they are kept with every event. */
export const userAgentLengthMax = 256;
/** How long a client may take for its headers, for its whole request, and between two requests of one connection. */
export const headersTimeoutMs = 20_000;
export const requestTimeoutMs = 60_000;
export const keepAliveTimeoutMs = 65_000;
/** How long a peer may keep a connection whose last answer is written: time to read it, and no more. */
export const lingerMs = 1_000;
/** What is read ahead of a connection whose parser has stopped, until the requests before are answered. */
export const readAheadBytesMax = 65_536;
/** How often connections are checked against the times above: a request that is late ends at most this much later. */
export const connectionsCheckMs = 1_000;
