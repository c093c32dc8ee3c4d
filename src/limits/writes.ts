/**
 * Bounds of writes. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** How often an unconditional write is decided again after losing a race. */
export const writeAttemptsMax = 16;
/** How long a write waits for an unacknowledged claim of another writer before it fences it (consistency protocol, 1). */
export const claimPendingWaitMs = 2_000;
/**
 * Writes waiting for the log at once: past it 429, so that memory stays bounded when the disk stalls. Super administrators
 * and the platform have as many of their own; of the others nobody may have more than are left for all others.
 */
export const writesInFlightMax = 4_096;
/** Bodies being read, and writes in flight with what is derived from them, in sum; nobody may hold more than is left. */
export const heldBytesMax = 268_435_456;
/** What a parsed value takes beside its text: an empty object in an array is the worst, with 64. */
export const parsedValueBytes = 96;
/** An event in flight is there three times: encoded, as the object it was made of, and as the answer. */
export const eventCopiesHeld = 3;
/** A user's writes and bytes in a second unless settings say otherwise, and the seconds that a burst may use up at once. */
export const writesPerUserDefault = 100;
export const writeBytesPerUserDefault = 4_194_304;
export const writeBurstSeconds = 10;
/** The same of one's own tokens, sessions and profile: people write them now and then. */
export const ownWritesPerUser = 10;
export const ownWriteBytesPerUser = 1_048_576;
/** What an event takes in the log beside the object: a claim of a unique value, a password's hash or a token's digest. */
export const smallEventBytes = 512;
/** Writers of whom it is remembered what they may still write, of users and of networks each; how many are looked at for room. */
export const writersKnownMax = 16_384;
export const writersLookedAtMax = 8;
/** Writes of one object that wait for their turn on a node (429 past it), and how long one waits before it goes ahead without. */
export const writesWaitingPerObjectMax = 1_024;
export const writeTurnWaitMs = 10_000;
/** Races lost to other nodes after which the next try is put off, and by how much at most: bursts elsewhere are outlasted. */
export const writeLossesAtOnce = 3;
export const writeLossWaitMsMax = 250;
/** Appends given up with an unknown outcome that a node remembers until it is known: past it writes are 503 before they are sent. */
export const unsettledMax = 8_192;
/** How long GET and LIST wait for a `resourceVersion` this node has not folded yet (504 past it). */
export const freshnessWaitMs = 2_000;
/** How long a write that the log has taken waits for this node's read models before it answers 503. */
export const writeFoldWaitMs = freshnessWaitMs * 4;
/** Objects marked before their answers are sent on, and how many of them at once: the log commits those together. */
export const deleteCollectionBatchObjectsMax = 256;
export const deleteCollectionConcurrencyMax = 32;
