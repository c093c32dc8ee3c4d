/**
 * Every bound of the system: name with its unit last, value, and why it is what it is. A bound is tested at n and n + 1
 * and answers past it with an error that names it.
 */

/** One request's body. Room for a 768 KiB object with indentation, and no more to hold in memory for a stranger. */
export const requestBodyBytesMax = 1_048_576;
/** One stored object's JSON. Leaves room for the event's metadata under EventStoreDB's 1 MiB an append. */
export const objectBytesMax = 786_432;
/** Nesting of a JSON body. Deeper input has no honest use and threatens recursive readers. */
export const jsonDepthMax = 128;
/** Headers and request line together. A selector at its limit, percent-encoded, still fits. */
export const requestHeadersBytesMax = 131_072;
/** The path and query of one request: answered 400 past it, as a selector at its limit fits. */
export const requestTargetBytesMax = 65_536;
/** One labelSelector or fieldSelector parameter, and how many requirements all of them may hold together. */
export const selectorBytesMax = 16_384;
export const selectorRequirementsMax = 64;
/** Values in one `in (…)` set. */
export const selectorSetValuesMax = 256;
/** Sort keys of one list. */
export const sortKeysMax = 8;
/** Query parameters of one request. */
export const queryParametersMax = 64;

/** metadata.name and label key prefix (a DNS subdomain, RFC 1123). */
export const nameLengthMax = 253;
/** The name part of a label key (a DNS label). */
export const labelNameLengthMax = 63;
export const labelValueLengthMax = 253;
export const labelsPerObjectMax = 256;
export const annotationsBytesMax = 262_144;
export const finalizersPerObjectMax = 64;
export const ownerReferencesPerObjectMax = 64;
/** The longest generateName prefix kept: what is longer is cut so that the five drawn characters still fit. */
export const generateNameLengthMax = nameLengthMax - 5;
/** How often a drawn name is drawn again after a collision: 36^5 names make even one redraw rare. */
export const generateNameAttemptsMax = 8;

/** One index value in UTF-8. An LMDB key holds 1,978 bytes; this leaves room for what surrounds it. */
export const indexValueBytesMax = 1_024;
/** Values one object may have in one multi-valued index. */
export const indexValuesPerObjectMax = 256;
/** Of where an index function threw. */
export const indexTraceLengthMax = 8_192;
export const indexesPerTypeMax = 32;
export const typesPerPluginMax = 64;
/** Columns of a type's table: wider than any terminal or screen. */
export const printerColumnsMax = 32;
export const schemaBytesMax = 262_144;
/** Validation errors reported at once: enough to fix a body in one go, not a megabyte of them. */
export const validationErrorsMax = 64;

/** How often an unconditional write is decided again after losing a race. */
export const writeAttemptsMax = 16;
/** How long a write waits for an unacknowledged claim of another writer before it fences it (consistency protocol, 1). */
export const claimPendingWaitMs = 2_000;
/** Writes waiting for the log at once: past it 429, so that memory stays bounded when the disk stalls. */
export const writesInFlightMax = 4_096;
/** Writes of one object that wait for their turn on a node (429 past it), and how long one waits before it goes ahead without. */
export const writesWaitingPerObjectMax = 1_024;
export const writeTurnWaitMs = 10_000;
/** Races lost to other nodes after which the next try is put off, and by how much at most: bursts elsewhere are outlasted. */
export const writeLossesAtOnce = 3;
export const writeLossWaitMsMax = 250;
/** How long GET and LIST wait for a `resourceVersion` this node has not folded yet (504 past it). */
export const freshnessWaitMs = 2_000;

/** Events read at once of the stream in which the log speaks of itself: each copy and each restore adds one or two. */
export const platformEventsReadMax = 256;
/** Between two tries to reach the log at the start: soon enough to be back within seconds, and no load on one that is down. */
export const logRetryMsMin = 100;
export const logRetryMsMax = 2_000;
/** How far a folded event's time may be ahead of this node's clock before that is told, and how often it is: all later ones follow it. */
export const eventTimeAheadMsMax = 60_000;
export const clockAlarmMs = 60_000;
/** How often a long catch-up says how far it is: often enough to see that it goes on. */
export const progressToldMs = 5_000;

/** Events of one read-model transaction: a commit of 64 rows takes 0.7 ms, which bounds what a read waits. */
export const projectionBatchEventsMax = 64;
/** Events a log subscription reads ahead of its consumer. */
export const logReadAheadEventsMax = 512;

/** A list answer up to this many objects and bytes is joined in one turn; a longer one is streamed at its reader's pace. */
export const listJoinedObjectsMax = 1_000;
export const listJoinedBytesMax = 1_048_576;
/** Objects joined per slice of a streamed list before the loop is yielded, and the bytes from which on a slice is whole. */
export const listSliceObjectsMax = 256;
export const listSliceBytesMax = 262_144;
/** Recent list answers kept by query and position. */
export const listCacheBytesMax = 16_777_216;
/** Read snapshots held by streamed lists and initial watch states at once; the next one waits its turn. */
export const snapshotsMax = 64;
/** How long one streamed list may hold its snapshot: LMDB cannot reuse pages freed since. */
export const snapshotHoldMsMax = 120_000;

export const watchersMax = 10_000;
/** Bytes one watcher may be behind before it is cut off: a slow browser tab must not hold a page of heap an event. */
export const watchBufferedBytesMax = 4_194_304;
/** Silence after which a watch sends a keep-alive. */
export const watchKeepAliveMs = 10_000;
export const watchBookmarkMs = 15_000;
export const watchTimeoutSecondsMax = 86_400;
/** What a watching client may send in one frame: nothing it says is read. */
export const watchClientFrameBytesMax = 4_096;
/** How long a position ahead of the log is waited for before 410. */
export const watchAheadWaitMs = 2_000;
/** How often a watch that needs a log which does not answer asks for it again. */
export const watchLogRetryMs = 1_000;
/** A resourceVersion's digits: 10¹⁹ positions an epoch, and more epochs than anybody begins. */
export const resourceVersionDigitsMax = 24;

/** A plugin's start, and one call of its route (seed decisions 9.2). */
export const pluginStartMs = 10_000;
export const pluginRouteMs = 30_000;
export const pluginManifestBytesMax = 65_536;
export const pluginObjectFileBytesMax = 4_194_304;
export const pluginObjectsMax = 1_000;
export const routesPerPluginMax = 1_000;

/** How long a verified Basic pair is remembered, and how many. */
export const basicCacheMs = 60_000;
export const basicCacheEntriesMax = 1_024;
/**
 * Failed log-ins before 429 of one user from one address, and of one user or one address in all, and the time in which they
 * count. The last two are higher: who guesses at a user from elsewhere must not shut them out, nor one of many behind an address the rest.
 */
export const loginFailuresMax = 20;
export const loginFailuresInAllMax = 100;
export const loginFailureWindowMs = 60_000;
/** Concurrent password hashes: each takes tens of milliseconds of a core and 16 MiB. */
export const passwordHashesMax = 2;

/** SIGTERM to exit (decision 11.3). */
export const shutdownMs = 10_000;

/** How long a watch may go on after its credential has run out. Rights that change end it at once. */
export const watchGuardMs = 5_000;

/** Operations of one JSON Patch: each may touch the whole document. */
export const jsonPatchOperationsMax = 1_000;

/** Objects removed at once. */
export const collectorConcurrencyMax = 128;
/** How long a node leads after it sent a renewal, and how often it sends one: two may be lost before another node takes over. */
export const leaseMs = 15_000;
export const leaseRenewMs = 5_000;
/** How often the others look whether the lease is free: a clean stop is made good within this. */
export const leaseLookMs = 1_000;
/** How long a stop waits until its release is known: without one others wait for the lease to run out. */
export const leaseReleaseMs = 2_000;

/** A stream's name in UTF-8: with its revision it must fit LMDB's key of 1,978 bytes. */
export const streamNameBytesMax = 1_900;

/**
 * How many recent events are kept for subscribers, together: above the writes that may be in flight at once, so that a
 * subscriber that keeps up never reads what was just written back from disk. A power of two, as places are found by mask.
 */
export const logRecentEventsMax = 8_192;
/** … and of how many bytes: events may be large. */
export const logRecentBytesMax = 33_554_432;

/** Bytes of one batch read ahead: past it a batch ends with the append that passed it. */
export const logReadAheadBytesMax = 8_388_608;
/** Appends of a copied log on their way at once, unless told otherwise, and their bytes: what a copy holds in memory. */
export const logCopyInFlightEvents = 256;
export const logCopyInFlightEventsMax = 4_096;
export const logCopyInFlightBytesMax = 8_388_608;

/** Watchers that read the past at once; others wait their turn. Each may hold a batch of the log and a slice of frames. */
export const watchCatchUpsMax = 32;
/** Streams of which a catch-up remembers whether their object is selected, so that most changes need no second read. */
export const watchRememberedStreamsMax = 8_192;
/** How long a watcher that catches up may leave what it was sent unread: it holds one of the few turns to do so. */
export const watchCatchUpStallMs = 10_000;
/** Users and addresses counted at once; the longest counted go first, as their windows end first. */
export const loginFailuresCountedMax = 10_000;
/** What a stored hash may ask for at most: 128 MiB. */
export const passwordHashMemoryBytesMax = 134_217_728;
/** Log-ins waiting for their turn; past it they are turned away, as each takes a fifth of a second of a core. */
export const passwordHashesWaitingMax = 64;
/** How long an ended stream may take to be read before its connection is cut: until then it holds what was not read. */
export const watchStreamEndMs = 5_000;

/** Objects marked before their answers are sent on, and how many of them at once: the log commits those together. */
export const deleteCollectionBatchObjectsMax = 256;
export const deleteCollectionConcurrencyMax = 32;
/** How long a closing handshake may take before the connection is cut. */
export const watchSocketCloseMs = 5_000;
/** Pieces of one client message, and of what was received and not yet parsed: nothing a watching client says needs many. */
export const watchClientFragmentsMax = 64;
export const watchClientChunksMax = 1_024;

/** Longer ones are cut: they are kept with every event. */
export const userAgentLengthMax = 256;
/** A query longer than this is rarely asked twice. */
export const listCacheQueryLengthMax = 2_048;

/** How long a client may take for its headers, for its whole request, and between two requests of one connection. */
export const headersTimeoutMs = 20_000;
export const requestTimeoutMs = 60_000;
export const keepAliveTimeoutMs = 65_000;

/** An alias repeats what it names, so a few bytes of nested ones could stand for gigabytes. */
export const yamlAliasesMax = 100;

/** A plugin gets a list as a whole: longer ones it asks for in pages. A hundred of the largest objects fit. */
export const clientListBytesMax = 96 * 1_048_576;

/** A plugin with a thousand mistakes need not tell them all at once. */
export const pluginMessageLengthMax = 8_192;

/** Leaves room before it for the platform's longest group prefix within 253 characters. */
export const platformDomainLengthMax = 190;
export const adminPasswordLengthMax = 1_024;

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
/** Ended sessions removed at once; how soon and how late expired ones are looked for. */
export const sessionEndsConcurrencyMax = 8;
export const sessionSweepMsMin = 1_000;
export const sessionSweepMsMax = 3_600_000;

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
/** A setting that is any text: an audience, a claim's name. */
export const settingLengthMax = 1_024;
/** Plugins that one server is told not to load. */
export const pluginsDisabledMax = 256;

/** A password typed or piped into the command line; the server's own bound is no greater. */
export const typedSecretLengthMax = 1_024;
/** How long the command line waits for one answer, and how much of it it takes in: roles and tokens, not whole tables. */
export const commandAnswerMs = 60_000;
export const commandAnswerBytesMax = 67_108_864;
/** What a refusal shows of a rule that its writer does not hold: enough to know it by. */
export const ruleShownLengthMax = 1_024;
