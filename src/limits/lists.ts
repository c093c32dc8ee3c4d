/** Limits of lists and selectors. Each name contains its unit. */

/**
 * The most bytes of one `labelSelector` or `fieldSelector` parameter, and the most requirements in all parameters of
 * the same name together.
 */
export const selectorBytesMax = 16_384;
export const selectorRequirementsMax = 64;
/** The most values in one `in (…)` set. */
export const selectorSetValuesMax = 256;
/** The most sort keys of one list. */
export const sortKeysMax = 8;
/**
 * The most objects and the most bytes of a list that is sent as a whole. A longer list is streamed at the speed of the
 * client.
 */
export const listJoinedObjectsMax = 1_000;
export const listJoinedBytesMax = 1_048_576;
/**
 * The most objects in one slice of a streamed list, and the bytes at which a slice ends. The event loop continues with
 * other work after each slice.
 */
export const listSliceObjectsMax = 256;
export const listSliceBytesMax = 262_144;
/**
 * The time in one turn of the event loop for a task of all lists together. Such tasks are the start of lists, the
 * selection and reading of objects, and the conversion to YAML.
 */
export const listTurnMs = 4;
/** The most names that a scan of all objects of a type reads at once. This takes well under a millisecond. */
export const namePageObjectsMax = 512;
/** The maximum size of the cache of recent lists, by query and position. */
export const listCacheBytesMax = 16_777_216;
/**
 * The most concurrent read snapshots. Requests of clients use at most `snapshotSlotsMax` of them. The others are for
 * lists that plugins read.
 */
export const snapshotsMax = 64;
/**
 * The longest time for which a streamed list may hold its snapshot. Meanwhile LMDB cannot reuse pages that are freed.
 */
export const snapshotHoldMsMax = 120_000;
/** The maximum length of the query of a cached list. Longer queries are rarely repeated. */
export const listCacheQueryLengthMax = 2_048;
/**
 * The most concurrent snapshots for clients' long lists and for the initial states of watches: in total, of each user,
 * and of each address. Further requests queue.
 */
export const snapshotSlotsMax = 56;
export const snapshotsPerUserMax = 8;
export const snapshotsPerAddressMax = 16;
/**
 * The most queued requests for a snapshot, in total and of each user (for visitors, of each address), and the longest
 * time in the queue. A request that would exceed one of these limits gets the status 429.
 */
export const snapshotWaitersMax = 1_024;
export const snapshotWaitersPerUserMax = 128;
export const snapshotWaitMs = 30_000;
/** While other requests queue for a snapshot, a client that has consumed nothing for this time loses its snapshot. */
export const snapshotStallMs = 10_000;
/** The maximum size of the chunks of a streamed response. A client makes progress each time it consumes a chunk. */
export const streamPieceBytesMax = 65_536;
/** The most characters of one cell of a table. A longer text is truncated and ends with `…`. */
export const tableCellCharactersMax = 1_024;
/**
 * The most bytes of JSON that are converted to YAML before the event loop continues with other work: a few
 * milliseconds.
 */
export const yamlPieceBytesMax = 8_192;
/**
 * The shortest time for which a cached table is used even if its ages have changed. The ages in a table with many new
 * objects change every few milliseconds.
 */
export const listCacheAgeMs = 1_000;
