/**
 * Bounds of writes. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

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
/** How long a write that the log has taken waits for this node's read models before it answers 503. */
export const writeFoldWaitMs = freshnessWaitMs * 4;
/** Objects marked before their answers are sent on, and how many of them at once: the log commits those together. */
export const deleteCollectionBatchObjectsMax = 256;
export const deleteCollectionConcurrencyMax = 32;
