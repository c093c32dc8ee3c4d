/**
 * Limits of users, roles and log-ins. Each name ends in its unit. Each limit is tested at n and n + 1, and its error
 * states it.
 */

/**
 * The time for which verified credentials are cached, and their number: a user and password pair takes one entry, its
 * Basic header another.
 */
export const basicCacheMs = 60_000;
export const basicCacheEntriesMax = 2_048;
/**
 * Failed log-ins before 429: of one user from one network (an IPv4 address, an IPv6 /64), from one network in total,
 * and of one user from all networks from which this user has not logged in; and the time for which a failure counts.
 */
export const loginFailuresMax = 20;
export const loginFailuresInAllMax = 100;
export const loginFailureWindowMs = 60_000;
/**
 * Unsuccessful log-ins of a user from one network within that time, including refused ones. Above it the cached
 * password is not used: otherwise a right guess would succeed despite any number of refusals.
 */
export const loginGuessesMax = 100;
/** Concurrent password hashes: each takes tens of milliseconds of a core and 16 MiB. */
export const passwordHashesMax = 2;
/**
 * Users and networks that are counted at once; above it, the one with the oldest failure is dropped. With 100 failures
 * each they take 10 MB.
 */
export const loginFailuresCountedMax = 10_000;
/** The most memory of a stored hash's parameters: 128 MiB. */
export const passwordHashMemoryBytesMax = 134_217_728;
/**
 * Queued password hashes: of one network, and in total for known and for unknown networks each. Above it requests are
 * rejected at once. With slow hashes the queue is shorter, so that no wait exceeds the last limit.
 */
export const passwordHashesWaitingPerNetworkMax = 32;
export const passwordHashesWaitingMax = 64;
export const passwordHashWaitMs = 10_000;
/**
 * The time for which a request for a hash lowers the priority of its site, and the limits of counted sites and of
 * requests of each.
 */
export const passwordHashRequestsWindowMs = 60_000;
export const passwordHashRequestSitesMax = 10_000;
export const passwordHashRequestsPerSiteMax = 100;
/**
 * Log lines about failed log-ins and refusals in a minute, and the length of a reason: enough to see an attack, too few
 * to fill a disk.
 */
export const refusalLinesMax = 60;
export const refusalLinesMs = 60_000;
export const refusalReasonLengthMax = 512;
/** The interval of events about accesses, which a crash may lose, and the time that a stop waits for the last event. */
export const accessBatchMs = 1_000;
export const accessStopMs = 1_000;
/**
 * The maximum number of refusals of one kind, by one user or network, that one event describes; and the maximum number
 * of users and networks in an event.
 */
export const accessEntriesPerSourceMax = 5;
export const accessSourcesMax = 256;
/**
 * Bytes per second of described refusals, over all events of a node: at most 90 MB a day, however many refusals there
 * are.
 */
export const accessEntryBytesPerSecond = 1_024;
export const accessEntryBytesBurst = 65_536;
/** Bytes of log-ins and log-outs in one event: each needs a password hash, or ends a session. */
export const accessCertainBytesMax = 262_144;
/** The length of a path in an entry. */
export const accessPathLengthMax = 512;
/** The networks recorded for each user, and the number of users: about 8 MB in total. */
export const knownNetworksPerUserMax = 8;
export const knownNetworksUsersMax = 8_192;
/** The maximum number of roles that one call binds to a user; each binding is a write. */
export const assignedRolesMax = 256;
/** Attempts to replace a user's bindings while other writers change them. */
export const bindingAttemptsMax = 8;
/** Roles that a review lists when none allows the request. */
export const reviewedRolesShownMax = 32;
/**
 * Comparisons in the check whether the writer of rules holds all of them: some twenty milliseconds. Above it, rules
 * count as not held. A plugin's role takes some hundreds.
 */
export const coverageChecksMax = 500_000;
/**
 * The maximum number of a role's dependencies, and of its UI permissions. Both are evaluated for all holders of the
 * role.
 */
export const roleListEntriesMax = 256;
/**
 * Cached candidates of request kinds, over all role sets, about 200 bytes each. Above it the whole cache is dropped.
 */
export const rememberedCandidatesMax = 65_536;
/** The number of roles from which the cache is faster than scanning them. */
export const rememberingRolesMin = 8;
/** Roles with a recorded time of change. Above it every role set counts as changed once. */
export const changedRolesMax = 8_192;
/** Rules of one role, and entries of one list of a rule: more than a person can review, and cheap for a request. */
export const roleRulesMax = 512;
export const ruleEntriesMax = 256;
/** The length of a path or a resource in a rule: the longest `plugin/resource/subresource` fits. */
export const ruleTextLengthMax = 1_024;
/** Users of one role binding: each is an index value. */
export const roleBindingSubjectsMax = 256;
/** The length of a user's name: `oidc:` and the longest claim. As an index value it stays within 1,024 bytes. */
export const subjectNameLengthMax = 258;
/** Roles that a personal access token is limited to. */
export const tokenRolesMax = 256;
export const displayNameLengthMax = 253;
export const descriptionLengthMax = 1_024;
/** RFC 5321: the longest mail address. */
export const emailLengthMax = 254;
/** A text about a user, such as a biography, in characters. */
export const profileTextLengthMax = 8_192;
/** Shorter passwords can be guessed (NIST SP 800-63B); longer ones only cost hashing. */
export const passwordLengthMin = 8;
export const passwordLengthMax = 1_024;
/** The lifetime of a session, however much it is used: it ends the use of a stolen cookie. */
export const sessionLifetimeMs = 86_400_000;
/**
 * The shortest interval between two recorded uses of a token, and the number of tokens with a recorded time in memory.
 */
export const tokenUseRecordMs = 60_000;
export const tokenUsesRememberedMax = 10_000;
/** Documents of an identity provider: discovery and keys are a few KiB. A log-in waits no longer than this time. */
export const oidcDocumentBytesMax = 262_144;
export const oidcFetchMs = 5_000;
/** The time for which the provider's keys are cached: a revoked key is accepted no longer than this. */
export const oidcKeysMs = 600_000;
/** The least time before an unknown key triggers another fetch, and before a failed fetch is retried. */
export const oidcUnknownKeyMs = 30_000;
export const oidcRetryMs = 5_000;
/** The tolerated difference to the identity provider's clock. */
export const oidcLeewayMs = 30_000;
/** The length of the claim: with its prefix it is a user's name in bindings and events. */
export const oidcClaimLengthMax = 253;
/** The length of a rule as shown in a refusal: enough to identify it. */
export const ruleShownLengthMax = 1_024;
/**
 * Bytes of annotations (keys and values) that users may set on their own tokens, and of labels: enough to describe a
 * purpose.
 */
export const ownTextBytesMax = 4_096;
/** Tokens of one user, above which a create is refused, and sessions, above which a log-in ends the oldest. */
export const tokensPerUserMax = 100;
export const sessionsPerUserMax = 100;
