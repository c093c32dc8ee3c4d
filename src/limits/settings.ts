/** Limits of settings and of the command line. Each name contains its unit. */

/**
 * The maximum length of PLATFORM_DOMAIN. The domain with the longest group prefix of the platform has at most 253
 * characters.
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
/**
 * The maximum length of a password that is typed or piped into the command line. The server does not accept a longer
 * password.
 */
export const typedSecretLengthMax = 1_024;
/**
 * The longest time that the command line waits for a response, and the most bytes of a response, or of one line of a
 * response that is read line by line.
 */
export const commandAnswerMs = 60_000;
export const commandAnswerBytesMax = 67_108_864;
/**
 * The maximum of a configured rate of writes or bytes. A burst, which is ten times the rate, is then below
 * `Number.MAX_SAFE_INTEGER`.
 */
export const rateSettingMax = 1_000_000_000_000;
/** The lifetime of the tokens of `kubeconfig --exec`, and the remaining lifetime below which a new token is fetched. */
export const execTokenMs = 3_600_000;
export const execTokenMarginMs = 300_000;
