/** The most addresses that are read from a `Forwarded` or `X-Forwarded-For` header, beginning at the right. */
export const forwardedHopsMax = 32;
/** The maximum length of one hop of `Forwarded` or `X-Forwarded-For`: an address with its parameters. */
export const forwardedHopLengthMax = 512;
