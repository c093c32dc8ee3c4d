/**
 * Limits of clients' addresses. Each name ends in its unit. Each limit is tested at n and n + 1, and its error states
 * it.
 */

/** Proxies in a chain, read from the right: bounds the look-ups for a header of trusted addresses. */
export const forwardedHopsMax = 32;
/** One hop of `Forwarded` or `X-Forwarded-For`: an address, a port and other parameters. */
export const forwardedHopLengthMax = 512;
