/**
 * Bounds of users, roles and log-ins. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** How long verified credentials are remembered, and how many: a pair has an entry, and its Basic header another. */
export const basicCacheMs = 60_000;
export const basicCacheEntriesMax = 2_048;
/**
 * Failed log-ins before 429 of one user from one network (an IPv4 address, an IPv6 /64), from one network in all, and of one
 * user from all networks from which that user has not logged in; and for how long each failure counts.
 */
export const loginFailuresMax = 20;
export const loginFailuresInAllMax = 100;
export const loginFailureWindowMs = 60_000;
/**
 * Log-ins of a user from one network that were no success, refused ones included, within that time: past it what is
 * remembered of that user there counts no more. A right guess would otherwise be let in however many were refused before.
 */
export const loginGuessesMax = 100;
/** Concurrent password hashes: each takes tens of milliseconds of a core and 16 MiB. */
export const passwordHashesMax = 2;
/** Users and networks counted at once; the one that failed longest ago goes first. With 100 times each: 10 MB. */
export const loginFailuresCountedMax = 10_000;
/** What a stored hash may ask for at most: 128 MiB. */
export const passwordHashMemoryBytesMax = 134_217_728;
/**
 * Password hashes that wait for their turn: of one network, and in all of known networks as of unknown ones; past it
 * they are turned away at once. Where hashes are slow there are fewer places: no wait is longer than the last bound.
 */
export const passwordHashesWaitingPerNetworkMax = 32;
export const passwordHashesWaitingMax = 64;
export const passwordHashWaitMs = 10_000;
/** How long what was hashed or turned away puts its site behind others; of how many sites, and how often each. */
export const passwordHashesAskedMs = 60_000;
export const passwordHashesAskedMax = 10_000;
export const passwordHashesAskedPerSiteMax = 100;
/** Lines about failed log-ins and refusals in a minute, and the length of a reason: enough to see an attack, no way to fill a disk. */
export const refusalLinesMax = 60;
export const refusalLinesMs = 60_000;
export const refusalReasonLengthMax = 512;
/** Networks from which a user has logged in that are remembered, and of how many users: some 8 MB in all. */
export const knownNetworksPerUserMax = 8;
export const knownNetworksUsersMax = 8_192;
/** Roles that one call binds to a user: each is a write, and people tell this many apart no longer. */
export const assignedRolesMax = 256;
/** How often a user's bindings are looked at anew because others change them meanwhile. */
export const bindingAttemptsMax = 8;
/** Roles that a review names when none of them allows it. */
export const reviewedRolesShownMax = 32;
/**
 * Comparisons made to see whether the writer of rules holds them all: some twenty milliseconds of them. Past it they count
 * as not held. A role of a plugin comes to some hundreds.
 */
export const coverageChecksMax = 500_000;
/** Dependencies of one role, and its UI permissions: whoever has the role has what they name worked out for them. */
export const roleListEntriesMax = 256;
/** Kinds of requests whose rules are remembered, over all role sets together: about 200 bytes each. Then all are forgotten. */
export const rememberedCandidatesMax = 65_536;
/** Fewer roles than this are looked through faster than what was remembered of them is found. */
export const rememberingRolesMin = 8;
/** Role names of which is remembered when they last changed. Past it every role set counts as changed once. */
export const changedRolesMax = 8_192;
/** Rules of one role, and the entries of one list of a rule: every right a person can oversee, and no page of memory a request. */
export const roleRulesMax = 512;
export const ruleEntriesMax = 256;
/** A path or a resource in a rule: `plugin/resource/subresource` at their longest still fits. */
export const ruleTextLengthMax = 1_024;
/** Users of one role binding: each is an index value of its own. */
export const roleBindingSubjectsMax = 256;
/** A user's name: `oidc:` and the longest claim; as an index value it stays within 1,024 bytes. */
export const subjectNameLengthMax = 258;
/** Roles a personal access token is confined to. */
export const tokenRolesMax = 256;
export const displayNameLengthMax = 253;
export const descriptionLengthMax = 1_024;
/** RFC 5321: the longest address a mail can be sent to. */
export const emailLengthMax = 254;
/** Shorter ones are guessed (NIST SP 800-63B); longer ones would only feed the hash. */
export const passwordLengthMin = 8;
export const passwordLengthMax = 1_024;
/** How long a log-in lasts, however much it is used: what was stolen unnoticed ends with the day. */
export const sessionLifetimeMs = 86_400_000;
/** How often a token's last use is noted, and of how many tokens it is remembered when that was. */
export const tokenUseNotedMs = 60_000;
export const tokenUsesRememberedMax = 10_000;
/** An identity provider's answers: keys and their whereabouts are a few KiB, and a log-in waits for them no longer. */
export const oidcDocumentBytesMax = 262_144;
export const oidcFetchMs = 5_000;
/** How long its keys are used before they are asked for again: a key it took back counts no longer than that. */
export const oidcKeysMs = 600_000;
/** How soon an unknown key may have the keys asked for again, and how soon a failed question is repeated. */
export const oidcUnknownKeyMs = 30_000;
export const oidcRetryMs = 5_000;
/** How far its clock may be from ours. */
export const oidcLeewayMs = 30_000;
/** With its prefix it is a user's name in bindings and events. */
export const oidcClaimLengthMax = 253;
/** What a refusal shows of a rule that its writer does not hold: enough to know it by. */
export const ruleShownLengthMax = 1_024;
/** Annotations of one's own tokens, in keys and values, and labels as well: enough to say what each is for. */
export const ownTextBytesMax = 4_096;
/** Tokens of one user, past which another is refused, and sessions, past which another ends the oldest. */
export const tokensPerUserMax = 100;
export const sessionsPerUserMax = 100;
