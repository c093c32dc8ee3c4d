/**
 * Limits of settings and the command line. Each name contains its unit. A test checks each limit at n and n + 1, and
 * each error message states the limit.
 */

/**
 * The maximum length of PLATFORM_DOMAIN. The domain and the platform's longest group prefix fit into 253 characters.
 */
export const platformDomainLengthMax = 190;
export const adminPasswordLengthMax = 1_024;
/** The maximum length of a setting with free text, such as an audience or the name of a claim. */
export const settingLengthMax = 1_024;
/** The maximum length of EVENTSTORE_PREFIX: a name and a UUID fit. */
export const eventStorePrefixLengthMax = 64;
/** The most plugins that PLUGINS_DISABLED may list. */
export const pluginsDisabledMax = 256;
/** The most entries of TRUSTED_PROXIES. The published ranges of the largest content delivery networks fit. */
export const trustedProxiesMax = 256;
/** The most entries of ALLOWED_HOSTS. */
export const allowedHostsMax = 256;
/** The maximum length of a password that is typed or piped into the command line. The server's limit is not higher. */
export const typedSecretLengthMax = 1_024;
/**
 * The time that the command line waits for a response, and the bytes of a response. Responses contain roles and tokens,
 * not whole tables.
 */
export const commandAnswerMs = 60_000;
export const commandAnswerBytesMax = 67_108_864;
/**
 * The maximum of a configured rate of writes or bytes. A burst at this rate can still be represented as an exact
 * number.
 */
export const rateSettingMax = 1_000_000_000_000;
/**
 * The validity of the tokens of `kubeconfig --exec`, and the time before a token expires at which the next token is
 * fetched.
 */
export const execTokenMs = 3_600_000;
export const execTokenMarginMs = 300_000;
