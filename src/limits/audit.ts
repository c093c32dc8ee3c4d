/** Limits of history and audit. Each name contains its unit. */

/** The number of entries in one page of an object's history: the default and the maximum. */
export const historyEntriesDefault = 50;
export const historyEntriesMax = 500;
/** The maximum size of a page in bytes. The page ends with the entry that reaches this size. */
export const historyPageBytesMax = 4_194_304;
/**
 * The most events and bytes read for one page, including the events of earlier and later objects with the same name.
 */
export const historyReadEventsMax = 2_000;
export const historyReadBytesMax = 8_388_608;
/** The most bytes of one read of the log. This limit plus the largest event is the memory of a page's events. */
export const historyReadBatchBytes = 2_097_152;
/**
 * The audit indexes are folded in batches. After a batch, the next batch waits this long for more events: a commit of
 * 256 events takes half the time of four commits of 64 events.
 */
export const auditRestMs = 50;
export const auditSliceEventsMax = 256;
/** A request that needs the audit indexes waits this long until the required position is folded. */
export const auditFoldWaitMs = 3_000;
/**
 * The maximum size of a line of an export: an event of the largest size with every byte escaped, and space for the
 * other members of the line.
 */
export const exportLineBytesMax = 16_777_216;
/**
 * A gzipped export may unpack to `exportUnpackedRatioMax` times its size, or to `exportUnpackedFreeBytes` if that is
 * more. Similar events compress well, but not as well as a file that was made to exhaust memory or time.
 */
export const exportUnpackedRatioMax = 250;
export const exportUnpackedFreeBytes = 67_108_864;
/** The bytes of lines of an export that are sent together. */
export const exportPieceBytes = 65_536;
/**
 * The most concurrent exports in total, and for each user. Further exports queue. Each export reads
 * the log in the thread of the server, and may occupy one of the four threads that compress and write to the disk.
 */
export const exportsMax = 3;
export const exportsPerUserMax = 2;
/**
 * An export has a signed checkpoint before each leaf whose index is a multiple of this number. Thus a changed leaf can
 * be located between two checkpoints.
 */
export const exportCheckpointLeaves = 1_024;
/**
 * The number of retries of a witness against a node that shows an older checkpoint than another node did, and the pause
 * between two retries.
 */
export const witnessRetries = 5;
export const witnessRetryMs = 1_000;

/**
 * The interval at which the leader signs the tree, if the tree has grown, and the interval at which the leader appends
 * the root to the log.
 */
export const treeSigningMs = 60_000;
export const treeHeadMs = 3_600_000;
/** The most leaves that are compared with the log in one step, before a signature. */
export const comparedLeavesMax = 8_192;
/** The interval at which new leaves are compared without a request for a signature. */
export const treeComparisonMs = 60_000;
export const treeComparisonWaitMs = 3_000;
/** The pause after a failed append of a key, and between two checks of a key that waits for a signature. */
export const keyRetryMs = 5_000;
/**
 * If the leader's key has no signature after this time, the key begins a new chain, because no other node has a trusted
 * key.
 */
export const keyAnewMs = 120_000;
/** The number of events in one page of the audit stream: the default and the maximum. */
export const auditEventsDefault = 50;
export const auditEventsMax = 500;
/** A page of the audit stream ends with the event that reaches this size in bytes. */
export const auditPageBytesMax = 4_194_304;
/**
 * The most events read for one page: when reading in the order of the log, and when reading single events found by the
 * index.
 */
export const auditScannedEventsMax = 10_000;
export const auditFoundEventsMax = 2_000;
/** The most steps over the index for one page. */
export const auditIndexStepsMax = 20_000;
/** The most bytes of events read for one page. */
export const auditReadBytesMax = 33_554_432;
/** The most events found by the index that are read concurrently. */
export const auditReadsAtOnceMax = 16;
