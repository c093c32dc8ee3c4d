/** Limits of the headers with clients' addresses. Each name contains its unit. */

/**
 * The most addresses that are read from a `Forwarded` or `X-Forwarded-For` header, beginning at the right. This limits
 * the number of checks of a header that lists only trusted proxies.
 */
export const forwardedHopsMax = 32;
/** The maximum length of one hop of `Forwarded` or `X-Forwarded-For`: an address, a port and other parameters. */
export const forwardedHopLengthMax = 512;
