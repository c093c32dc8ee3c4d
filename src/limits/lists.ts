/** The most bytes of one `labelSelector` or `fieldSelector` parameter. */
export const selectorBytesMax = 16_384;
/** The most requirements in all `labelSelector` parameters of a request, and in all `fieldSelector` parameters. */
export const selectorRequirementsMax = 64;
/** The most values in one `in (…)` set. */
export const selectorSetValuesMax = 256;
/** The most sort keys of one list. */
export const sortKeysMax = 8;
/** The most objects of a list that is sent as a whole. A longer list is streamed at the speed of the client. */
export const listJoinedObjectsMax = 1_000;
/** The most bytes of a list that is sent as a whole. */
export const listJoinedBytesMax = 1_048_576;
/** The most objects in one slice of a streamed list. The event loop continues with other work after each slice. */
export const listSliceObjectsMax = 256;
/** The size at which a slice of a streamed list ends. */
export const listSliceBytesMax = 262_144;
/**
 * The time in one turn of the event loop for one kind of work on all lists together, such as reads or conversion to
 * YAML.
 */
export const listTurnMs = 4;
/** The most names that a scan of a type's objects reads at once. Such a read takes well under a millisecond. */
export const namePageObjectsMax = 512;
/** The maximum size of the cache of recent lists. */
export const listCacheBytesMax = 16_777_216;
/**
 * The most concurrent read snapshots. Requests of clients use at most `snapshotSlotsMax`; plugins' lists use the
 * others.
 */
export const snapshotsMax = 64;
/** The longest time for which a streamed list may hold its snapshot. Meanwhile LMDB cannot reuse freed pages. */
export const snapshotHoldMsMax = 120_000;
/** The maximum length of the query of a cached list. Longer queries are rarely repeated. */
export const listCacheQueryLengthMax = 2_048;
/**
 * The most concurrent snapshots, in total, for clients' long lists and for the initial states of watches. Further
 * requests queue.
 */
export const snapshotSlotsMax = 56;
/** The most concurrent snapshots for the long lists and watches of one user. */
export const snapshotsPerUserMax = 8;
/** The most concurrent snapshots for the long lists and watches of one address. */
export const snapshotsPerAddressMax = 16;
/** The most queued requests for a snapshot. Further requests get the status 429. */
export const snapshotWaitersMax = 1_024;
/** The most queued requests of one user for a snapshot. For visitors, the limit applies to one address. */
export const snapshotWaitersPerUserMax = 128;
/** A request that has queued for a snapshot for this time gets the status 429. */
export const snapshotWaitMs = 30_000;
/** While other requests queue for a snapshot, a client that has consumed nothing for this time loses its snapshot. */
export const snapshotStallMs = 10_000;
/** The maximum size of a chunk of a streamed response. A client makes progress each time it consumes a chunk. */
export const streamPieceBytesMax = 65_536;
/** The most characters of one cell of a table. A longer text is truncated and ends with `…`. */
export const tableCellCharactersMax = 1_024;
/** The most bytes of JSON that are converted to YAML in one slice. The conversion takes a few milliseconds. */
export const yamlPieceBytesMax = 8_192;
/**
 * A cached table is used for this time even if the ages in its rows have changed. With many new objects, the ages
 * change every few milliseconds.
 */
export const listCacheAgeMs = 1_000;
