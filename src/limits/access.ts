/** Limits of users, roles and log-ins. Each name contains its unit. */

/**
 * The longest time for which verified credentials are cached, and the most entries of the cache. A request with HTTP
 * Basic usually adds two entries: one for the header, and one for the user name with the password.
 */
export const basicCacheMs = 60_000;
export const basicCacheEntriesMax = 2_048;
/**
 * The most failed log-ins within `logInFailureWindowMs`. Further log-ins get the status 429. `logInFailuresMax` limits
 * the failures of one user from one network (an IPv4 address or an IPv6 /64). `logInFailuresInAllMax` limits the
 * failures of all users together from one network. The same number limits the failures of one user from all networks
 * together that are not known for this user (`knownNetworksPerUserMax`).
 */
export const logInFailuresMax = 20;
export const logInFailuresInAllMax = 100;
export const logInFailureWindowMs = 60_000;
/**
 * The most wrong passwords for a user from one network within `logInFailureWindowMs`, including those of refused
 * log-ins. At this limit, passwords of this user from this network are not compared with the cached password. Otherwise
 * a correct guess would succeed even while log-ins are refused.
 */
export const logInGuessesMax = 100;
/** The most concurrent password hashes. Each hash usually takes tens of milliseconds of a core and 16 MiB of memory. */
export const passwordHashesMax = 2;
/**
 * The most entries of the table that counts failed log-ins, and of the table that counts wrong passwords. An entry is
 * for a user, for a network, or for a user from one network. Above this limit, the entry with the oldest last failure
 * is dropped. If each entry has 100 failures, a table uses 10 MB.
 */
export const logInFailuresCountedMax = 10_000;
/** The most memory that the parameters of a stored password hash may require: 128 MiB. */
export const passwordHashMemoryBytesMax = 134_217_728;
/**
 * The most requests that wait for a password hash: from one network, and in each of two queues. One queue is for
 * networks that are known for the user (`knownNetworksPerUserMax`), the other queue for all other networks. Above the
 * first limit, the new request is rejected. Above the second limit, the request that would be served last is rejected.
 * If hashes are slow, the second limit is lower. A request that has waited for `passwordHashWaitMs` is also rejected.
 */
export const passwordHashesWaitingPerNetworkMax = 32;
export const passwordHashesWaitingMax = 64;
export const passwordHashWaitMs = 10_000;
/**
 * A request for a password hash lowers the priority of further requests from the same site (an IPv4 address or an IPv6
 * /48). The limits are the time for which a request is counted, the most sites with counted requests, and the most
 * counted requests of one site.
 */
export const passwordHashRequestsWindowMs = 60_000;
export const passwordHashRequestSitesMax = 10_000;
export const passwordHashRequestsPerSiteMax = 100;
/**
 * The most log lines about failed log-ins and forbidden requests within `refusalLinesMs`, and the maximum length of the
 * reason in a line. The lines are enough to detect an attack, but too few to fill a disk.
 */
export const refusalLinesMax = 60;
export const refusalLinesMs = 60_000;
export const refusalReasonLengthMax = 512;
/**
 * The time for which accesses (log-ins, log-outs and refusals) are collected before an event records them, and the
 * longest time that a stop waits until the last such event is appended. A crash loses the accesses that no event has
 * recorded.
 */
export const accessBatchMs = 1_000;
export const accessStopMs = 1_000;
/**
 * An event groups refusals by their kind, and by the user or network. The limits are the most refusals of one group
 * that one event describes, and the most groups of one event. Further refusals are only counted.
 */
export const accessEntriesPerSourceMax = 5;
export const accessSourcesMax = 256;
/**
 * The most bytes of descriptions of refusals that a node appends: on average in a second, and in a burst. These are at
 * most 90 MB a day, regardless of the number of refusals.
 */
export const accessEntryBytesPerSecond = 1_024;
export const accessEntryBytesBurst = 65_536;
/**
 * The most bytes of described log-ins and log-outs in one event. A limit for each user is not needed, because a log-in
 * requires the user's password, and a log-out ends a session of the user.
 */
export const accessCertainBytesMax = 262_144;
/** The maximum length of a request's path in a described refusal. A longer path is truncated. */
export const accessPathLengthMax = 512;
/**
 * A node records the networks from which a user has logged in. The limits are the most networks of one user, and the
 * most users with recorded networks. The networks use about 8 MB in total.
 */
export const knownNetworksPerUserMax = 8;
export const knownNetworksUsersMax = 8_192;
/** The maximum number of roles that one call binds to a user; each binding is a write. */
export const assignedRolesMax = 256;
/**
 * The most attempts to replace the role bindings of a user while other writers change these bindings, and the most
 * names that are tried for a new binding.
 */
export const bindingAttemptsMax = 8;
/** The most roles that an access review lists if no role allows the request. */
export const reviewedRolesShownMax = 32;
/**
 * The most comparisons in the check that a writer has all rights that a write grants, for example by the rules of a
 * role. This number of comparisons takes about twenty milliseconds. Above this limit, the check treats the remaining
 * rules as rights that the writer lacks. The role of a plugin needs some hundreds of comparisons.
 */
export const coverageChecksMax = 500_000;
/**
 * The most entries in a role's list of dependencies, and in its list of UI permissions. The server evaluates both lists
 * for every user with the role.
 */
export const roleListEntriesMax = 256;
/**
 * The most entries of the cache of candidate rules, for all sets of roles together. For one set of roles, an entry
 * lists the rules that may allow requests for one group, resource and subresource. An entry uses about 200 bytes. Above
 * this limit, the whole cache is cleared.
 */
export const rememberedCandidatesMax = 65_536;
/**
 * The fewest roles in a set, including the roles that its roles include, for which the cache of candidate rules is
 * faster than a scan of the roles.
 */
export const rememberingRolesMin = 8;
/**
 * The most roles with a recorded time of change. Above this limit, the recorded times are dropped, and the rights of
 * every set of roles are computed again.
 */
export const changedRolesMax = 8_192;
/**
 * The most rules of one role, and the most entries of one list of a rule. These limits are higher than a person can
 * review, and low enough to evaluate the rules quickly for a request.
 */
export const roleRulesMax = 512;
export const ruleEntriesMax = 256;
/** The maximum length of a path or a resource in a rule. The longest `plugin/resource/subresource` fits. */
export const ruleTextLengthMax = 1_024;
/** The most users of one role binding. Each user is an index value. */
export const roleBindingSubjectsMax = 256;
/**
 * The maximum length of a user's name. `oidc:` with the longest claim fits. A name of this length fits into an index
 * value of 1,024 bytes.
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
/**
 * The time after which a session ends, even if it is in use. This limits the time for which a stolen cookie can be
 * used.
 */
export const sessionLifetimeMs = 86_400_000;
/**
 * The shortest interval between two recorded uses of a token and of a session, and the most tokens and sessions for
 * which the time of the last recorded use is in memory. Each recorded use is an event: a session that is used all day
 * adds at most 144 events.
 */
export const tokenUseRecordMs = 60_000;
export const sessionUseRecordMs = 600_000;
export const usesRememberedMax = 10_000;
/**
 * The maximum size of a document of an identity provider, and the longest time for fetching the provider's keys. If the
 * URL of the keys is not configured, the fetch includes the discovery document. Both documents have a few KiB.
 */
export const oidcDocumentBytesMax = 262_144;
export const oidcFetchMs = 5_000;
/**
 * The time for which the identity provider's keys are cached. After the provider has removed a key, the server verifies
 * tokens with this key for at most this time.
 */
export const oidcKeysMs = 600_000;
/**
 * The shortest time from a fetch of the identity provider's keys to a further fetch because of a token with an unknown
 * key, and the shortest time from a failed fetch to the next fetch.
 */
export const oidcUnknownKeyMs = 30_000;
export const oidcRetryMs = 5_000;
/** The tolerated difference between this server's clock and the identity provider's clock. */
export const oidcLeewayMs = 30_000;
/**
 * The maximum length of the claim that names the user. In bindings and events, the name of this user is `oidc:`
 * followed by the claim.
 */
export const oidcClaimLengthMax = 253;
/** The maximum length of a rule in the text of a refusal: enough to identify the rule. */
export const ruleShownLengthMax = 1_024;
/**
 * The most bytes of the annotations (keys and values together) that users may set on one of their own objects, such as
 * a token. The same limit applies to the labels. It is enough to describe the purpose of the object.
 */
export const ownTextBytesMax = 4_096;
/**
 * The most tokens and the most sessions of one user. At the first limit, the creation of a token is refused. Above the
 * second limit, a log-in ends the user's sessions with the oldest recorded use.
 */
export const tokensPerUserMax = 100;
export const sessionsPerUserMax = 100;
