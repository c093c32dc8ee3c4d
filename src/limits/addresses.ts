/**
 * Bounds of clients' addresses. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** Proxies in a row, read from the right: a header of trusted addresses alone costs no more look-ups than this. */
export const forwardedHopsMax = 32;
/** One hop of `Forwarded` or `X-Forwarded-For`: an address, a port and what else a proxy says of it. */
export const forwardedHopLengthMax = 512;
