/** The default and the maximum number of entries in one page of an object's history. */
export const historyEntriesDefault = 50;
export const historyEntriesMax = 500;
/** A page of an object's history ends after the entry with which the page reaches this size. */
export const historyPageBytesMax = 4_194_304;
/**
 * A page of an object's history ends after this number of events, or after events of this size. Events of earlier and
 * later objects with the same name are counted.
 */
export const historyReadEventsMax = 2_000;
export const historyReadBytesMax = 8_388_608;
/** One read of the log for an object's history ends when its events reach this size. */
export const historyReadBatchBytes = 2_097_152;
/**
 * The delay between two batches of the audit indexes while no request waits for the indexes. The delay makes batches
 * larger, and larger batches take less time for each event.
 */
export const auditRestMs = 50;
/**
 * The most events of one batch of the audit indexes. A commit of 256 events takes half the time of four commits of 64
 * events.
 */
export const auditSliceEventsMax = 256;
/** The longest time that a request waits until the audit indexes contain the required position. */
export const auditFoldWaitMs = 3_000;
/** The maximum size of a line of an export. The largest event fits, even if every byte is escaped. */
export const exportLineBytesMax = 16_777_216;
/**
 * The maximum ratio of the unpacked size of a gzipped export to its packed size. Real exports stay below this ratio.
 * Files that are made to exhaust memory exceed it.
 */
export const exportUnpackedRatioMax = 250;
/** The unpacked size up to which a gzipped export may exceed the ratio. */
export const exportUnpackedFreeBytes = 67_108_864;
/** The size at which the collected lines of an export are sent. */
export const exportPieceBytes = 65_536;
/** The most concurrent exports in total. Further exports queue. */
export const exportsMax = 3;
/** The most concurrent exports of one user. Further exports queue. */
export const exportsPerUserMax = 2;
/**
 * The number of leaves between two checkpoints in an export. With the checkpoints, a verifier can locate a changed
 * leaf.
 */
export const exportCheckpointLeaves = 1_024;
/** The retries of a witness after a node sends an older checkpoint than the stored one. The node may be catching up. */
export const witnessRetries = 5;
export const witnessRetryMs = 1_000;

/** The interval at which the leader signs the tree if the tree has grown. */
export const treeSigningMs = 60_000;
/** The shortest interval between two signed roots that the leader appends to the log. */
export const treeHeadMs = 3_600_000;
/** The most leaves of the tree that are compared with the log in one step. */
export const comparedLeavesMax = 8_192;
/** The interval at which a node compares new leaves with the log even if no signature is requested. */
export const treeComparisonMs = 60_000;
/** The longest time that a request for a signature waits for the comparison of leaves with the log. */
export const treeComparisonWaitMs = 3_000;
/**
 * The pause before a node retries the append of an event about its key. At this interval, the node also checks whether
 * another node has signed the key.
 */
export const keyRetryMs = 5_000;
/** If no other node has signed the leader's key after this time, the leader begins a new chain of keys. */
export const keyAnewMs = 120_000;
/** The default and the maximum number of events in one page of the audit stream. */
export const auditEventsDefault = 50;
export const auditEventsMax = 500;
/** A page of the audit stream ends after the event with which the page reaches this size. */
export const auditPageBytesMax = 4_194_304;
/** The most events that are read in log order for one page of the audit stream. */
export const auditScannedEventsMax = 10_000;
/** The most events that are read for one page of the audit stream if an index finds the events. */
export const auditFoundEventsMax = 2_000;
/** The most steps through the index for one page of the audit stream. */
export const auditIndexStepsMax = 20_000;
/** A page of the audit stream ends when the read events reach this size. */
export const auditReadBytesMax = 33_554_432;
/** The most events that are read concurrently after an index has found them. */
export const auditReadsAtOnceMax = 16;
