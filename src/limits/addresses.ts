/**
 * Limits of clients' addresses. Each name contains its unit. A test checks each limit at n and n + 1, and each error
 * message states the limit.
 */

/**
 * The most proxies in a chain, read from the right. Bounds the look-ups for a header that lists only trusted addresses.
 */
export const forwardedHopsMax = 32;
/** The maximum length of one hop of `Forwarded` or `X-Forwarded-For`: an address, a port and other parameters. */
export const forwardedHopLengthMax = 512;
