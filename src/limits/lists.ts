/**
 * Limits of lists and selectors. Each name contains its unit. The error message for a request that exceeds a limit
 * states the limit; the other limits pace the work or bound caches.
 */

/**
 * The most bytes of one labelSelector or fieldSelector parameter, and the number of requirements of all parameters of a
 * request.
 */
export const selectorBytesMax = 16_384;
export const selectorRequirementsMax = 64;
/** The most values in one `in (…)` set. */
export const selectorSetValuesMax = 256;
/** The most sort keys of one list. */
export const sortKeysMax = 8;
/**
 * The most objects and bytes of a list that is sent in one turn; a longer list is streamed at the speed of its reader.
 */
export const listJoinedObjectsMax = 1_000;
export const listJoinedBytesMax = 1_048_576;
/** The most objects of a streamed list that are joined before yielding, and the bytes that complete a slice. */
export const listSliceObjectsMax = 256;
export const listSliceBytesMax = 262_144;
/** The time in one turn of the event loop for selecting and reading long lists, for all lists together. */
export const listTurnMs = 4;
/** The most names read in one page while all objects of a type are scanned: a page takes well under a millisecond. */
export const namePageObjectsMax = 512;
/** The maximum size of the cache of recent lists, by query and position. */
export const listCacheBytesMax = 16_777_216;
/** The most concurrent read snapshots. The snapshots above `snapshotSlotsMax` are for plugins' own lists. */
export const snapshotsMax = 64;
/**
 * The longest time for which a streamed list may hold its snapshot. LMDB cannot reuse the pages that are freed in this
 * time.
 */
export const snapshotHoldMsMax = 120_000;
/** The longest query that is cached. Longer queries are rarely repeated. */
export const listCacheQueryLengthMax = 2_048;
/**
 * The most concurrent snapshots for clients' long lists and initial watch states: in total, for each user, and for each
 * address. Further requests queue.
 */
export const snapshotSlotsMax = 56;
export const snapshotsPerUserMax = 8;
export const snapshotsPerAddressMax = 16;
/**
 * The most queued requests for a snapshot, in total and for each user (for each address of visitors), and the longest
 * wait. Above any of these limits, the status is 429.
 */
export const snapshotWaitersMax = 1_024;
export const snapshotWaitersPerUserMax = 128;
export const snapshotWaitMs = 30_000;
/** The time for which a reader may consume nothing before it loses its snapshot to a queued reader. */
export const snapshotStallMs = 10_000;
/** The maximum size of the chunks of a streamed response: a consumed chunk counts as progress of the peer. */
export const streamPieceBytesMax = 65_536;
/** The characters of one cell of a table. A longer text is truncated and ends with `…`. */
export const tableCellCharactersMax = 1_024;
/**
 * The most bytes of JSON that are converted to YAML before the event loop continues with other work: a few
 * milliseconds.
 */
export const yamlPieceBytesMax = 8_192;
/**
 * The most by which an age in a cached table may be outdated. The ages in a table with many new objects change every
 * few milliseconds.
 */
export const listCacheAgeMs = 1_000;
