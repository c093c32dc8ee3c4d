/** The maximum length of PLATFORM_DOMAIN. With the longest group prefix, a group has at most 253 characters. */
export const platformDomainLengthMax = 190;
export const adminPasswordLengthMax = 1_024;
/** The maximum length of a setting with free text, such as an audience or the name of a claim. */
export const settingLengthMax = 1_024;
/** The maximum length of EVENTSTORE_PREFIX: a name and a UUID fit. */
export const eventStorePrefixLengthMax = 64;
export const pluginsDisabledMax = 256;
/** The most entries of TRUSTED_PROXIES. The published address ranges of the largest content delivery networks fit. */
export const trustedProxiesMax = 256;
export const allowedHostsMax = 256;
/** The maximum length of a password that is typed or piped into the command line. */
export const typedSecretLengthMax = 1_024;
/** The longest time that the command line waits for a response. */
export const commandAnswerMs = 60_000;
/** The most bytes of a response. For a response that is read line by line, the limit applies to a line. */
export const commandAnswerBytesMax = 67_108_864;
/** The maximum of a configured rate. A burst, which is ten times the rate, is then below `Number.MAX_SAFE_INTEGER`. */
export const rateSettingMax = 1_000_000_000_000;
/** The lifetime of the tokens of `kubeconfig --exec`. */
export const execTokenMs = 3_600_000;
/** The remaining lifetime below which `kubeconfig --exec` fetches a new token. */
export const execTokenMarginMs = 300_000;
