/** Verified credentials are cached for at most this time. */
export const basicCacheMs = 60_000;
/**
 * The most cached credentials. A request with HTTP Basic usually adds two entries: one for the header, and one for the
 * name with the password.
 */
export const basicCacheEntriesMax = 2_048;
/**
 * The most failed log-ins of one user from one network (an IPv4 address or an IPv6 /64) within `logInFailureWindowMs`.
 * Further log-ins get the status 429.
 */
export const logInFailuresMax = 20;
/**
 * The most failed log-ins of all users together from one network within `logInFailureWindowMs`. The same limit applies
 * to the failed log-ins of one user from all networks from which the user has not logged in before.
 */
export const logInFailuresInAllMax = 100;
export const logInFailureWindowMs = 60_000;
/**
 * The most wrong passwords for one user from one network within `logInFailureWindowMs`. Further passwords are not
 * compared with the cached one. Otherwise, a correct guess would succeed while log-ins are refused.
 */
export const logInGuessesMax = 100;
/** The most concurrent password hashes. Each hash takes 0.1 to 0.3 s of one core, and 32 MiB. */
export const passwordHashesMax = 2;
/**
 * The most entries of each table that counts failures. A table has entries for users, for networks, and for pairs of a
 * user and a network. Above this limit, the entry with the oldest last failure is dropped.
 */
export const logInFailuresCountedMax = 10_000;
/** The most memory that the parameters of a stored password hash may require: 128 MiB. */
export const passwordHashMemoryBytesMax = 134_217_728;
/** The most requests from one network that wait for a password hash. Further requests are rejected. */
export const passwordHashesWaitingPerNetworkMax = 32;
/**
 * The most requests in a queue for a password hash. There are two queues: one for networks from which the user has
 * logged in before, and one for other networks. Above this limit, the request with the lowest priority is rejected.
 */
export const passwordHashesWaitingMax = 64;
/** A request that has waited for a password hash for this time is rejected. */
export const passwordHashWaitMs = 10_000;
/**
 * The time for which a request for a password hash lowers the priority of other requests from its site (an IPv4 address
 * or an IPv6 /48).
 */
export const passwordHashRequestsWindowMs = 60_000;
/** The most sites with counted requests for a password hash. */
export const passwordHashRequestSitesMax = 10_000;
/** The most counted requests of one site for a password hash. */
export const passwordHashRequestsPerSiteMax = 100;
/** The most log lines about failed log-ins and forbidden requests within `refusalLinesMs`. */
export const refusalLinesMax = 60;
export const refusalLinesMs = 60_000;
/** The maximum length of the reason in a log line about a refusal. */
export const refusalReasonLengthMax = 512;
/**
 * The time for which accesses (log-ins, log-outs and refusals) are collected for one event. A crash loses the accesses
 * that no event has recorded.
 */
export const accessBatchMs = 1_000;
/** The longest time that a stopping server waits until the last event about accesses is appended. */
export const accessStopMs = 1_000;
/**
 * The most refusals of one kind, from one user or network, that one event describes. Further refusals are only counted.
 */
export const accessEntriesPerSourceMax = 5;
/**
 * The most sources in one event with described refusals. A source is a pair of a kind of refusal and a user or network.
 */
export const accessSourcesMax = 256;
/** The most bytes of described refusals that a node appends in a second, on average. In a day, this is up to 90 MB. */
export const accessEntryBytesPerSecond = 1_024;
/** The most bytes of described refusals that a node appends in a burst. */
export const accessEntryBytesBurst = 65_536;
/** The most bytes of described log-ins and log-outs in one event. */
export const accessCertainBytesMax = 262_144;
/** The maximum length of the path in a described refusal. A longer path is truncated. */
export const accessPathLengthMax = 512;
/** A node records at most this number of networks from which a user has logged in. */
export const knownNetworksPerUserMax = 8;
/** The most users with recorded networks. The networks use about 8 MB in total. */
export const knownNetworksUsersMax = 8_192;
/** The most roles that one call binds to a user. Each binding is a write. */
export const assignedRolesMax = 256;
/**
 * The most attempts to replace a user's role bindings while other writers change these bindings. The same limit applies
 * to the names that are tried for a new binding.
 */
export const bindingAttemptsMax = 8;
/**
 * The most requests of one access preview, the most proposed roles, and the most types of its matrix. Further types
 * need the parameter `group`.
 */
export const previewedRequestsMax = 64;
export const previewedRolesMax = 16;
export const previewedTypesMax = 1_000;
/** The maximum number of routes of plugins in the matrix of an access preview. */
export const previewedRoutesMax = 1_000;
/**
 * The most pairs of an API group and a resource in the rules of all proposed roles together. The server prepares each
 * pair for decisions. A single rule may reach this limit.
 */
export const previewedPairsMax = 65_536;
/** The most roles that an access review lists if no role allows the request. */
export const reviewedRolesShownMax = 32;
/**
 * The most comparisons in the check that a writer has all rights that a write grants. The check takes about 20 ms at
 * this limit, and treats the remaining rules as rights that the writer lacks.
 */
export const coverageChecksMax = 500_000;
/** The longest time that a request may wait for a change of its caller's permissions. */
export const permissionWaitSecondsMax = 60;
/** The most requests that wait for a change of permissions at once, of one user and in all. */
export const permissionWaitsPerUserMax = 32;
export const permissionWaitsMax = 10_000;
/** Changes of roles and bindings within this time are compared with the waiting requests together. */
export const permissionSettleMs = 50;
/** The most entries in a role's list of dependencies, and in a role's list of UI permissions. */
export const roleListEntriesMax = 256;
/**
 * The most entries, for all sets of roles together, in the cache of rules that may allow a request. Above this limit,
 * the whole cache is cleared.
 */
export const rememberedCandidatesMax = 65_536;
/**
 * The number of roles from which the cache of rules is faster than a scan of the roles. Roles that a role includes are
 * also counted.
 */
export const rememberingRolesMin = 8;
/**
 * The most roles for which the time of the last change is recorded. Above this limit, the records are dropped, and the
 * rights of every set of roles are computed again.
 */
export const changedRolesMax = 8_192;
export const roleRulesMax = 512;
/** The most entries of one list of a rule. */
export const ruleEntriesMax = 256;
/** The maximum length of a path or a resource in a rule. The longest `plugin/resource/subresource` fits. */
export const ruleTextLengthMax = 1_024;
/** The most users of one role binding. Each user is an index value. */
export const roleBindingSubjectsMax = 256;
/** The maximum length of a user's name. `oidc:` with the longest claim fits. */
export const subjectNameLengthMax = 258;
/** The most roles to which a personal access token may be limited. */
export const tokenRolesMax = 256;
export const displayNameLengthMax = 253;
export const descriptionLengthMax = 1_024;
/** The maximum length of a mail address (RFC 5321). */
export const emailLengthMax = 254;
/** The maximum length of a text about a user, such as a biography. */
export const profileTextLengthMax = 8_192;
/** The minimum length of a password, as NIST SP 800-63B requires. */
export const passwordLengthMin = 8;
/** The maximum length of a password. Longer passwords would only increase the cost of hashing. */
export const passwordLengthMax = 1_024;
/** The time after which a session ends, even if it is in use. */
export const sessionLifetimeMs = 86_400_000;
/** The shortest interval between two recorded uses of a token. Each recorded use is an event. */
export const tokenUseRecordMs = 60_000;
/**
 * The shortest interval between two recorded uses of a session. Each recorded use is an event, at most 144 in a day.
 */
export const sessionUseRecordMs = 600_000;
/** The most tokens and sessions for which the time of the last recorded use is in memory. */
export const usesRememberedMax = 10_000;
/** The maximum size of a document of an identity provider. Usual documents have a few KiB. */
export const oidcDocumentBytesMax = 262_144;
/** The longest time for fetching the identity provider's keys. The fetch may include the discovery document. */
export const oidcFetchMs = 5_000;
/**
 * The time for which the identity provider's keys are cached. The server accepts a key for at most this time after the
 * provider has removed the key.
 */
export const oidcKeysMs = 600_000;
/** After a fetch of the identity provider's keys, a token with an unknown key causes no fetch for this time. */
export const oidcUnknownKeyMs = 30_000;
/** The shortest time from a failed fetch of the identity provider's keys to the next fetch. */
export const oidcRetryMs = 5_000;
/** The tolerated difference between this server's clock and the identity provider's clock. */
export const oidcLeewayMs = 30_000;
/** The maximum length of the claim that names the user. The user's name is `oidc:` followed by the claim. */
export const oidcClaimLengthMax = 253;
/**
 * The time within which a user must finish a log-in at the identity provider, and the most unfinished log-ins of one
 * browser. A further log-in replaces the oldest one.
 */
export const oidcFlowMs = 600_000;
export const oidcFlowsMax = 4;
/**
 * The maximum length of the path to which a browser returns after a log-in. The cookie of each unfinished log-in
 * contains this path.
 */
export const returnPathLengthMax = 512;
/** The most codes of the identity provider that a node redeems at a time. */
export const oidcExchangesMax = 32;
/** The maximum length of a rule in the text of a refusal. */
export const ruleShownLengthMax = 1_024;
/**
 * The most bytes of the annotations (keys and values) of an object that belongs to a user, such as a token. The same
 * limit applies to the labels.
 */
export const ownTextBytesMax = 4_096;
/** The most tokens of one user. At this limit, the creation of a token is refused. */
export const tokensPerUserMax = 100;
/** The most sessions of one user. Above this limit, a log-in ends the sessions with the oldest recorded use. */
export const sessionsPerUserMax = 100;
