/** Limits of writes. Each name ends in its unit. Each limit is tested at n and n + 1, and its error states it. */

/** Attempts of an unconditional write after lost races. */
export const writeAttemptsMax = 16;
/**
 * The time that a write waits for another writer's unacknowledged claim before it fences the claim (consistency
 * protocol, 1).
 */
export const claimPendingWaitMs = 2_000;
/**
 * Writes queued for the log; above it, 429, so that memory stays bounded when the disk stalls. Super administrators and
 * the platform have a separate queue of this size. Every other writer may hold at most as many as are left.
 */
export const writesInFlightMax = 4_096;
/**
 * Bytes of bodies being read, and of writes in flight with their derived data, in total; a writer may hold at most as
 * many as are left.
 */
export const heldBytesMax = 268_435_456;
/** The memory of a parsed value beyond its text; the worst case, an empty object in an array, takes 64 bytes. */
export const parsedValueBytes = 96;
/** An event in flight exists three times: encoded, as its object, and as the response. */
export const eventCopiesHeld = 3;
/** The default rate of a user's writes and bytes, and the seconds of it that a burst may use. */
export const writesPerUserDefault = 100;
export const writeBytesPerUserDefault = 4_194_304;
export const writeBurstSeconds = 10;
/** The same limits for a user's own tokens, sessions and profile, which are rarely written. */
export const ownWritesPerUser = 10;
export const ownWriteBytesPerUser = 1_048_576;
/** The size of an event without an object: a claim of a unique value, a password hash or a token digest. */
export const smallEventBytes = 512;
/**
 * Writers with a recorded rate, for users and for networks each, and the number of writers that are checked when one
 * must be dropped.
 */
export const writersKnownMax = 16_384;
export const writersLookedAtMax = 8;
/** Writes of one object queued on a node (above it, 429), and the longest wait before a write proceeds. */
export const writesWaitingPerObjectMax = 1_024;
export const writeTurnWaitMs = 10_000;
/**
 * Races lost to other nodes after which retries are delayed, and the longest delay: it outlasts other nodes' bursts.
 */
export const writeLossesAtOnce = 3;
export const writeLossWaitMsMax = 250;
/**
 * Appends with unknown outcome that a node records until their outcome is known; above it, a write gets 503 before it
 * is sent.
 */
export const unsettledMax = 8_192;
/** The time that GET and LIST wait for a `resourceVersion` that this node has not folded yet (504 after it). */
export const freshnessWaitMs = 2_000;
/** The time that an appended write waits for this node's read models before it returns 503. */
export const writeFoldWaitMs = freshnessWaitMs * 4;
/**
 * Objects that are marked before their responses are sent, and the number marked concurrently: the log commits these
 * together.
 */
export const deleteCollectionBatchObjectsMax = 256;
export const deleteCollectionConcurrencyMax = 32;
