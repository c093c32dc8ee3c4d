/** Limits of history and audit. Each name contains its unit. */

/** The default and the maximum number of entries in one page of an object's history. */
export const historyEntriesDefault = 50;
export const historyEntriesMax = 500;
/** A page of an object's history ends after the entry with which the page reaches this size. */
export const historyPageBytesMax = 4_194_304;
/**
 * A page of an object's history ends after this number of events, or after events of this size. Both limits also count
 * the events of earlier and later objects with the same name.
 */
export const historyReadEventsMax = 2_000;
export const historyReadBytesMax = 8_388_608;
/**
 * The bytes of events after which one read of the log for an object's history ends. The events of one read thus have at
 * most this size plus the size of the largest event.
 */
export const historyReadBatchBytes = 2_097_152;
/**
 * The fold of the audit indexes: the delay between two batches unless a request waits for the fold, and the most events
 * of one batch. During the delay, events accumulate for the next batch. A commit of 256 events takes half the time of
 * four commits of 64 events.
 */
export const auditRestMs = 50;
export const auditSliceEventsMax = 256;
/** The longest time that a request waits until the audit indexes have folded the required position. */
export const auditFoldWaitMs = 3_000;
/**
 * The maximum size of a line of an export. An event of the largest size with every byte escaped fits, together with the
 * other members of the line.
 */
export const exportLineBytesMax = 16_777_216;
/**
 * A gzipped export may unpack to `exportUnpackedRatioMax` times its size, or to `exportUnpackedFreeBytes` if that is
 * more. Real exports stay below this ratio, even if their events are similar. Files that were made to exhaust memory or
 * time exceed it.
 */
export const exportUnpackedRatioMax = 250;
export const exportUnpackedFreeBytes = 67_108_864;
/** The number of bytes after which the collected lines of an export are sent. */
export const exportPieceBytes = 65_536;
/**
 * The most concurrent exports in total, and of each user. Further exports queue. An export reads the log in the main
 * thread of the server, and may occupy one of Node's four threads for compression and disk access.
 */
export const exportsMax = 3;
export const exportsPerUserMax = 2;
/**
 * The number of leaves between two checkpoints in an export. A verifier can thus name the two checkpoints around a
 * changed leaf.
 */
export const exportCheckpointLeaves = 1_024;
/**
 * The number of retries if a node sends the witness an older checkpoint than the stored one, and the pause before each
 * retry. The node may be catching up.
 */
export const witnessRetries = 5;
export const witnessRetryMs = 1_000;

/**
 * The interval at which the leader signs the tree if the tree has grown, and the shortest interval at which the leader
 * appends the signed root to the log.
 */
export const treeSigningMs = 60_000;
export const treeHeadMs = 3_600_000;
/** The most leaves of the tree that are compared with the log in one step. */
export const comparedLeavesMax = 8_192;
/**
 * The interval at which a node compares new leaves with the log even if no signature is requested, and the longest time
 * that a request for a signature waits for the comparison.
 */
export const treeComparisonMs = 60_000;
export const treeComparisonWaitMs = 3_000;
/**
 * A node retries the append of an event about its key after this pause. With the same pause, the node checks again
 * whether another node has signed its key.
 */
export const keyRetryMs = 5_000;
/**
 * If no other node has signed the leader's key after this time, the leader assumes that no running node has a trusted
 * key, and begins a new chain of keys with its own key.
 */
export const keyAnewMs = 120_000;
/** The default and the maximum number of events in one page of the audit stream. */
export const auditEventsDefault = 50;
export const auditEventsMax = 500;
/** A page of the audit stream ends after the event with which the page reaches this size. */
export const auditPageBytesMax = 4_194_304;
/**
 * The most events that are read for one page of the audit stream. The first limit applies if the events of the log are
 * read in order, the second limit if only the events that an index finds are read.
 */
export const auditScannedEventsMax = 10_000;
export const auditFoundEventsMax = 2_000;
/** The most steps through the index for one page of the audit stream. */
export const auditIndexStepsMax = 20_000;
/** The bytes of read events at which a page of the audit stream ends. */
export const auditReadBytesMax = 33_554_432;
/** The most events that are read concurrently after the index has found them. */
export const auditReadsAtOnceMax = 16;
