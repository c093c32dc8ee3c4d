/** Limits of users, roles and log-ins. Each name contains its unit. */

/**
 * The time for which verified credentials are cached, and the most cache entries. A user name with its password uses
 * one entry, and the Basic header with the same user name and password uses another entry.
 */
export const basicCacheMs = 60_000;
export const basicCacheEntriesMax = 2_048;
/**
 * The most failed log-ins before the status 429. `logInFailuresMax` applies to one user from one network (an IPv4
 * address or an IPv6 /64). `logInFailuresInAllMax` applies to all users together from one network, and to one user in
 * total from all networks from which this user has not logged in. A failure counts for `logInFailureWindowMs`.
 */
export const logInFailuresMax = 20;
export const logInFailuresInAllMax = 100;
export const logInFailureWindowMs = 60_000;
/**
 * The most wrong passwords for a user from one network within `logInFailureWindowMs`, including those of refused
 * log-ins. At this limit, a password from this network is no longer compared with the cached password, so that an
 * attacker cannot find the password by a guess that succeeds while log-ins are refused.
 */
export const logInGuessesMax = 100;
/** The most concurrent password hashes. Each hash uses tens of milliseconds of a core and 16 MiB of memory. */
export const passwordHashesMax = 2;
/**
 * The most entries that count failed log-ins; an entry is for a user, a network, or a user from one network. Above this
 * limit, the entry that has had no failure for the longest time is dropped. With 100 failures each, the entries use 10
 * MB.
 */
export const logInFailuresCountedMax = 10_000;
/** The most memory that the parameters of a stored password hash may require: 128 MiB. */
export const passwordHashMemoryBytesMax = 134_217_728;
/**
 * The most requests that wait for a password hash: from one network, and in each of two queues. One queue is for
 * networks from which the user has logged in, the other queue for all other networks. Above either limit, a request is
 * rejected at once. If hashes are slow, fewer requests may wait, so that no request waits longer than
 * `passwordHashWaitMs`.
 */
export const passwordHashesWaitingPerNetworkMax = 32;
export const passwordHashesWaitingMax = 64;
export const passwordHashWaitMs = 10_000;
/**
 * The time for which a request for a password hash lowers the priority of further requests from the same site, the most
 * sites with counted requests, and the most counted requests of one site.
 */
export const passwordHashRequestsWindowMs = 60_000;
export const passwordHashRequestSitesMax = 10_000;
export const passwordHashRequestsPerSiteMax = 100;
/**
 * The most log lines about failed log-ins and refusals in a minute, and the maximum length of the reason in a line:
 * enough to detect an attack, but not enough to fill a disk.
 */
export const refusalLinesMax = 60;
export const refusalLinesMs = 60_000;
export const refusalReasonLengthMax = 512;
/**
 * The interval at which the server appends an event about the latest log-ins, log-outs and refusals, and the longest
 * time that a stop waits for the last such event. A crash loses the accesses since the last event.
 */
export const accessBatchMs = 1_000;
export const accessStopMs = 1_000;
/**
 * The most refusals of one kind, for one user or network, that one event describes, and the most combinations of a kind
 * and a user or network in one event. Further refusals are only counted.
 */
export const accessEntriesPerSourceMax = 5;
export const accessSourcesMax = 256;
/**
 * The most bytes of described refusals that a node appends: on average in a second, and in a burst. This is at most 90
 * MB a day, regardless of the number of refusals.
 */
export const accessEntryBytesPerSecond = 1_024;
export const accessEntryBytesBurst = 65_536;
/**
 * The most bytes of described log-ins and log-outs in one event. A limit for each user is not needed, because a log-in
 * requires a password hash and a log-out ends a session.
 */
export const accessCertainBytesMax = 262_144;
/** The maximum length of a request's path in a described refusal. A longer path is truncated. */
export const accessPathLengthMax = 512;
/**
 * The most networks that are remembered for a user after log-ins, and the most users with remembered networks: about 8
 * MB in total.
 */
export const knownNetworksPerUserMax = 8;
export const knownNetworksUsersMax = 8_192;
/** The maximum number of roles that one call binds to a user; each binding is a write. */
export const assignedRolesMax = 256;
/**
 * The most attempts to replace the role bindings of a user, if other writers change these bindings at the same time.
 */
export const bindingAttemptsMax = 8;
/** The most roles that an access review lists if no role allows the request. */
export const reviewedRolesShownMax = 32;
/**
 * The most comparisons in the check that the author of a role has all rights of the role's rules. They take about
 * twenty milliseconds. Above this limit, the check treats the remaining rules as rights that the author lacks. A
 * plugin's role needs some hundreds of comparisons.
 */
export const coverageChecksMax = 500_000;
/**
 * The most entries in a role's list of dependencies, and in its list of UI permissions. The server evaluates both lists
 * for each user with the role.
 */
export const roleListEntriesMax = 256;
/**
 * The most entries of the cache of candidate rules, over all sets of roles. An entry lists the rules of a set of roles
 * that may allow requests for one group, resource and subresource, and uses about 200 bytes. Above this limit, the
 * whole cache is cleared.
 */
export const rememberedCandidatesMax = 65_536;
/** The fewest roles of a user for which the cache of candidate rules is faster than a scan of all roles. */
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
 * The shortest interval between two recorded uses of a token, and the most tokens for which the time of the last
 * recorded use is in memory.
 */
export const tokenUseRecordMs = 60_000;
export const tokenUsesRememberedMax = 10_000;
/**
 * The maximum size of a document of an identity provider, and the longest time that a log-in waits for a document. The
 * discovery document and the keys have a few KiB each.
 */
export const oidcDocumentBytesMax = 262_144;
export const oidcFetchMs = 5_000;
/**
 * The time for which the identity provider's keys are cached. After the provider has removed a key, the server verifies
 * tokens with this key for at most this time.
 */
export const oidcKeysMs = 600_000;
/**
 * The shortest time between a fetch of the identity provider's keys and a fetch because of a token with an unknown key,
 * and the shortest time between a failed fetch and the next fetch.
 */
export const oidcUnknownKeyMs = 30_000;
export const oidcRetryMs = 5_000;
/** The tolerated difference between this server's clock and the identity provider's clock. */
export const oidcLeewayMs = 30_000;
/**
 * The maximum length of the claim that names the user. `oidc:` with this claim is the user's name in bindings and
 * events.
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
 * second limit, a log-in ends the oldest session.
 */
export const tokensPerUserMax = 100;
export const sessionsPerUserMax = 100;
