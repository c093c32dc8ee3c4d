/**
 * Limits of users, roles and log-ins. Each name contains its unit. A test checks each limit at n and n + 1, and each
 * error message states the limit.
 */

/**
 * The time for which verified credentials are cached, and the number of cache entries. A user and password pair uses
 * one entry; the Basic header of the pair uses another.
 */
export const basicCacheMs = 60_000;
export const basicCacheEntriesMax = 2_048;
/**
 * The most failed log-ins before the status 429. `logInFailuresMax` applies to one user from one network (an IPv4
 * address or an IPv6 /64). `logInFailuresInAllMax` applies to one network in total, and to one user from all networks
 * from which this user has not logged in. A failure counts for `logInFailureWindowMs`.
 */
export const logInFailuresMax = 20;
export const logInFailuresInAllMax = 100;
export const logInFailureWindowMs = 60_000;
/**
 * The most unsuccessful log-ins of a user from one network within `logInFailureWindowMs`, including refused log-ins.
 * Above this limit the cached password is not used: an attacker could otherwise find the password in spite of the
 * refusals.
 */
export const logInGuessesMax = 100;
/** The most concurrent password hashes. Each hash uses tens of milliseconds of a core and 16 MiB of memory. */
export const passwordHashesMax = 2;
/**
 * The most users and networks with counted failures. Above this limit, the entry with the oldest failure is dropped.
 * With 100 failures each, the entries use 10 MB.
 */
export const logInFailuresCountedMax = 10_000;
/** The most memory of a stored hash's parameters: 128 MiB. */
export const passwordHashMemoryBytesMax = 134_217_728;
/**
 * The most queued password hashes of one network, and the total for all known networks and for all unknown networks
 * each. Above these limits, requests are rejected at once. With slow hashes the queue is shorter, so that no request
 * waits longer than `passwordHashWaitMs`.
 */
export const passwordHashesWaitingPerNetworkMax = 32;
export const passwordHashesWaitingMax = 64;
export const passwordHashWaitMs = 10_000;
/**
 * A request for a hash lowers the priority of the client's site for this time. The second and third limit: the number
 * of counted sites, and the number of counted requests of each site.
 */
export const passwordHashRequestsWindowMs = 60_000;
export const passwordHashRequestSitesMax = 10_000;
export const passwordHashRequestsPerSiteMax = 100;
/**
 * The most log lines about failed log-ins and refusals in a minute, and the length of a reason: enough to detect an
 * attack, too few to fill a disk.
 */
export const refusalLinesMax = 60;
export const refusalLinesMs = 60_000;
export const refusalReasonLengthMax = 512;
/** The interval of events about accesses, which a crash may lose, and the time that a stop waits for the last event. */
export const accessBatchMs = 1_000;
export const accessStopMs = 1_000;
/**
 * The most refusals of one kind, by one user or network, that one event describes, and the most users and networks in
 * one event.
 */
export const accessEntriesPerSourceMax = 5;
export const accessSourcesMax = 256;
/**
 * Bytes per second of described refusals, over all events of a node: at most 90 MB a day, however many refusals there
 * are.
 */
export const accessEntryBytesPerSecond = 1_024;
export const accessEntryBytesBurst = 65_536;
/** The most bytes of log-ins and log-outs in one event: each needs a password hash, or ends a session. */
export const accessCertainBytesMax = 262_144;
/** The maximum length of a path in an entry. */
export const accessPathLengthMax = 512;
/** The most networks recorded for each user, and the most users with recorded networks: about 8 MB in total. */
export const knownNetworksPerUserMax = 8;
export const knownNetworksUsersMax = 8_192;
/** The maximum number of roles that one call binds to a user; each binding is a write. */
export const assignedRolesMax = 256;
/** The most attempts to replace a user's bindings while other writers change them. */
export const bindingAttemptsMax = 8;
/** The most roles that an access review lists if no role allows the request. */
export const reviewedRolesShownMax = 32;
/**
 * The most comparisons in the check whether the writer of rules has all these rules: about twenty milliseconds. Above
 * this limit, the check treats the rules as missing. A plugin's role needs some hundreds of comparisons.
 */
export const coverageChecksMax = 500_000;
/**
 * The maximum number of a role's dependencies, and of its UI permissions. Both are evaluated for all holders of the
 * role.
 */
export const roleListEntriesMax = 256;
/**
 * The most cached candidates of request kinds, over all role sets, about 200 bytes each. Above this limit the whole
 * cache is dropped.
 */
export const rememberedCandidatesMax = 65_536;
/** The number of roles above which the cache is faster than a scan of all roles. */
export const rememberingRolesMin = 8;
/**
 * The most roles with a recorded time of change. Above this limit the recorded times are dropped, and every role set is
 * treated as changed once.
 */
export const changedRolesMax = 8_192;
/**
 * The most rules of one role, and the most entries of one list of a rule. These are more than a person can review, and
 * cheap to evaluate for a request.
 */
export const roleRulesMax = 512;
export const ruleEntriesMax = 256;
/** The maximum length of a path or a resource in a rule: the longest `plugin/resource/subresource` fits. */
export const ruleTextLengthMax = 1_024;
/** The most users of one role binding: each is an index value. */
export const roleBindingSubjectsMax = 256;
/**
 * The maximum length of a user's name: `oidc:` and the longest claim. A name of this length fits into an index value of
 * 1,024 bytes.
 */
export const subjectNameLengthMax = 258;
/** The most roles in the list to which a personal access token is limited. */
export const tokenRolesMax = 256;
export const displayNameLengthMax = 253;
export const descriptionLengthMax = 1_024;
/** The maximum length of a mail address (RFC 5321). */
export const emailLengthMax = 254;
/** The maximum length of a text about a user, such as a biography, in characters. */
export const profileTextLengthMax = 8_192;
/**
 * The minimum and the maximum length of a password. Shorter passwords can be guessed (NIST SP 800-63B); longer
 * passwords only increase the cost of hashing.
 */
export const passwordLengthMin = 8;
export const passwordLengthMax = 1_024;
/** The lifetime of a session, regardless of its use. The lifetime limits the use of a stolen cookie. */
export const sessionLifetimeMs = 86_400_000;
/**
 * The shortest interval between two recorded uses of a token, and the number of tokens with a recorded time in memory.
 */
export const tokenUseRecordMs = 60_000;
export const tokenUsesRememberedMax = 10_000;
/**
 * The maximum size of a document of an identity provider (the discovery document and the keys have a few KiB), and the
 * longest time that a log-in waits for a document.
 */
export const oidcDocumentBytesMax = 262_144;
export const oidcFetchMs = 5_000;
/** The time for which the provider's keys are cached. A revoked key is accepted no longer than this time. */
export const oidcKeysMs = 600_000;
/** The least time before an unknown key triggers another fetch, and before a failed fetch is retried. */
export const oidcUnknownKeyMs = 30_000;
export const oidcRetryMs = 5_000;
/** The tolerated difference to the identity provider's clock. */
export const oidcLeewayMs = 30_000;
/** The maximum length of the claim. The claim with the prefix `oidc:` is the user's name in bindings and events. */
export const oidcClaimLengthMax = 253;
/** The maximum length of a rule in the text of a refusal: enough to identify the rule. */
export const ruleShownLengthMax = 1_024;
/**
 * The most bytes of annotations (keys and values) that users may set on their own tokens, and the same limit for
 * labels: enough to describe a purpose.
 */
export const ownTextBytesMax = 4_096;
/**
 * The most tokens and sessions of one user. Above these limits, the creation of a token is refused, and a log-in ends
 * the oldest session.
 */
export const tokensPerUserMax = 100;
export const sessionsPerUserMax = 100;
