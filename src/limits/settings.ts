/**
 * Bounds of settings and the command line. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** Leaves room before it for the platform's longest group prefix within 253 characters. */
export const platformDomainLengthMax = 190;
export const adminPasswordLengthMax = 1_024;
/** A setting that is any text: an audience, a claim's name. */
export const settingLengthMax = 1_024;
/** EVENTSTORE_PREFIX: a name, with room for a UUID. */
export const eventStorePrefixLengthMax = 64;
/** Plugins that one server is told not to load. */
export const pluginsDisabledMax = 256;
/** Entries of TRUSTED_PROXIES: the published ranges of the largest content delivery networks fit. */
export const trustedProxiesMax = 256;
/** Host names that one server answers to. */
export const allowedHostsMax = 256;
/** A password typed or piped into the command line; the server's own bound is no greater. */
export const typedSecretLengthMax = 1_024;
/** How long the command line waits for one answer, and how much of it it takes in: roles and tokens, not whole tables. */
export const commandAnswerMs = 60_000;
export const commandAnswerBytesMax = 67_108_864;
/** Writes or bytes that a setting allows a user in a second: a burst of them stays an exact number. */
export const rateSettingMax = 1_000_000_000_000;
