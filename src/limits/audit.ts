/** Limits of history and audit. Each name ends in its unit. */

/** Entries of one page of an object's history, by default and at most. */
export const historyEntriesDefault = 50;
export const historyEntriesMax = 500;
/** The size of a page in bytes: the page ends with the entry that reaches it. */
export const historyPageBytesMax = 4_194_304;
/** Events and bytes read for one page, including those of earlier and later objects of the name. */
export const historyReadEventsMax = 2_000;
export const historyReadBytesMax = 8_388_608;
/** Bytes of one read of the log: with the largest event, the memory of a page's events. */
export const historyReadBatchBytes = 2_097_152;
/**
 * The audit indexes are folded in batches: after one, the next waits this long for more events. A commit of 256 events
 * takes half the time of four commits of 64.
 */
export const auditRestMs = 50;
export const auditSliceEventsMax = 256;
/** A request that needs the audit indexes waits this long until they have folded a position. */
export const auditFoldWaitMs = 3_000;
/** A line of an export: an event of the largest size, with each byte as an escape, and room for its other members. */
export const exportLineBytesMax = 16_777_216;
/**
 * A gzipped export may unpack to this many times its size; small ones to more. Events repeat each other, but not like
 * the content of a file that was made to fill memory or time.
 */
export const exportUnpackedRatioMax = 250;
export const exportUnpackedFreeBytes = 67_108_864;
/** Lines of an export that are sent together. */
export const exportPieceBytes = 65_536;
/** An export has a signed checkpoint before each leaf with a multiple of this index: a change lies between two. */
export const exportCheckpointLeaves = 1_024;
/** How often a witness asks a node that shows an older checkpoint than another one did, and the pause in between. */
export const witnessRetries = 5;
export const witnessRetryMs = 1_000;

/** How often the leader signs the tree, if it has grown, and how often it appends the root to the log. */
export const treeSigningMs = 60_000;
export const treeHeadMs = 3_600_000;
/**
 * Leaves that are compared with the log in one step, before a signature. A request for a signature waits this long for
 * the comparison, which then goes on without it.
 */
export const comparedLeavesMax = 8_192;
/** How often new leaves are compared without a request. */
export const treeComparisonMs = 60_000;
export const treeComparisonWaitMs = 3_000;
/** The pause after a failed append of a key, and between two checks of a key that waits for a signature. */
export const keyRetryMs = 5_000;
/** After this time without a signature the leader's key begins a chain: no other node has a trusted key. */
export const keyAnewMs = 120_000;
/** Events of one page of the audit stream, by default and at most. */
export const auditEventsDefault = 50;
export const auditEventsMax = 500;
/** A page of the audit stream ends with the event that reaches this size in bytes. */
export const auditPageBytesMax = 4_194_304;
/** Events read for one page: in the order of the log, and at places that the index names. */
export const auditScannedEventsMax = 10_000;
export const auditFoundEventsMax = 2_000;
/** Steps over the index for one page. */
export const auditIndexStepsMax = 20_000;
/** Bytes of events read for one page. */
export const auditReadBytesMax = 33_554_432;
/** Events that are read at once at places that the index names. */
export const auditReadsAtOnceMax = 16;
