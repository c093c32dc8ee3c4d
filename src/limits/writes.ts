/** Limits of writes. Each name ends in its unit. Each limit is tested at n and n + 1, and its error states it. */

/** Attempts of an unconditional write after lost races. */
export const writeAttemptsMax = 16;
/**
 * How long a write waits for an unacknowledged claim of another writer before it fences it (consistency protocol, 1).
 */
export const claimPendingWaitMs = 2_000;
/**
 * Writes queued for the log: past it 429, so that memory stays bounded when the disk stalls. Super administrators and
 * the platform have as many of their own; every other writer may hold at most as many as are left.
 */
export const writesInFlightMax = 4_096;
/**
 * Bodies being read, and writes in flight with their derived data, in total; a writer may hold at most as much as is
 * left.
 */
export const heldBytesMax = 268_435_456;
/** The memory of a parsed value beyond its text: the worst case is an empty object in an array, with 64. */
export const parsedValueBytes = 96;
/** An event in flight exists three times: encoded, as its object, and as the response. */
export const eventCopiesHeld = 3;
/** The default rate of a user's writes and bytes, and the seconds of it that a burst may use. */
export const writesPerUserDefault = 100;
export const writeBytesPerUserDefault = 4_194_304;
export const writeBurstSeconds = 10;
/** The same for one's own tokens, sessions and profile, which people write rarely. */
export const ownWritesPerUser = 10;
export const ownWriteBytesPerUser = 1_048_576;
/** The size of an event without an object: a claim of a unique value, a password hash or a token digest. */
export const smallEventBytes = 512;
/** Writers with a remembered rate, of users and of networks each; and how many are checked when one must be dropped. */
export const writersKnownMax = 16_384;
export const writersLookedAtMax = 8;
/** Writes of one object queued on a node (429 past it), and the longest wait before a write proceeds. */
export const writesWaitingPerObjectMax = 1_024;
export const writeTurnWaitMs = 10_000;
/** Lost races to other nodes after which retries are delayed, and the longest delay: they outlast bursts elsewhere. */
export const writeLossesAtOnce = 3;
export const writeLossWaitMsMax = 250;
/**
 * Appends given up with an unknown outcome that a node remembers until it is known: past it writes are 503 before they
 * are sent.
 */
export const unsettledMax = 8_192;
/** How long GET and LIST wait for a `resourceVersion` that this node has not folded yet (504 past it). */
export const freshnessWaitMs = 2_000;
/** How long an appended write waits for this node's read models before it returns 503. */
export const writeFoldWaitMs = freshnessWaitMs * 4;
/** Objects marked before their responses are sent, and how many concurrently: the log commits these together. */
export const deleteCollectionBatchObjectsMax = 256;
export const deleteCollectionConcurrencyMax = 32;
