/**
 * Limits of settings and the command line. Each name ends in its unit. Each limit is tested at n and n + 1, and its
 * error states it.
 */

/** The length of PLATFORM_DOMAIN: leaves room for the platform's longest group prefix within 253 characters. */
export const platformDomainLengthMax = 190;
export const adminPasswordLengthMax = 1_024;
/** A setting with free text: an audience, a claim's name. */
export const settingLengthMax = 1_024;
/** EVENTSTORE_PREFIX: a name, with room for a UUID. */
export const eventStorePrefixLengthMax = 64;
/** Plugins that PLUGINS_DISABLED may list. */
export const pluginsDisabledMax = 256;
/** Entries of TRUSTED_PROXIES: the published ranges of the largest content delivery networks fit. */
export const trustedProxiesMax = 256;
/** Entries of ALLOWED_HOSTS. */
export const allowedHostsMax = 256;
/** A password typed or piped into the command line; the server's own limit is not higher. */
export const typedSecretLengthMax = 1_024;
/**
 * The time that the command line waits for a response, and the bytes of a response: roles and tokens, not whole tables.
 */
export const commandAnswerMs = 60_000;
export const commandAnswerBytesMax = 67_108_864;
/** A configured rate of writes or bytes: a burst at this rate is still an exact number. */
export const rateSettingMax = 1_000_000_000_000;
/** The validity of the tokens of `kubeconfig --exec`, and the time before its end at which the next one is fetched. */
export const execTokenMs = 3_600_000;
export const execTokenMarginMs = 300_000;
