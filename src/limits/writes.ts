/**
 * Limits of writes. Each name contains its unit. A test checks each limit at n and n + 1, and each error message
 * states the limit.
 */

/** The most attempts of a write without preconditions if other writers change the object first. */
export const writeAttemptsMax = 16;
/**
 * The time that a write waits for another writer's unacknowledged claim before it fences the claim (consistency
 * protocol, 1).
 */
export const claimPendingWaitMs = 2_000;
/**
 * The most writes queued for the log. Above this limit, the status is 429, so that memory stays bounded when the disk
 * stalls. Super administrators and the platform have a separate queue of this size. Every other writer may have at most
 * as many queued writes as the queue has free slots.
 */
export const writesInFlightMax = 4_096;
/**
 * The most bytes, in total, of the bodies being read and of the writes in flight with their derived data. A writer may
 * use at most as many bytes as are free.
 */
export const heldBytesMax = 268_435_456;
/** The memory of a parsed value in addition to its text. The worst case, an empty object in an array, uses 64 bytes. */
export const parsedValueBytes = 96;
/** The copies of an event in flight: the encoded event, the object, and the response. */
export const eventCopiesHeld = 3;
/** The default rates of a user's writes and bytes. A burst may use the rate of `writeBurstSeconds`. */
export const writesPerUserDefault = 100;
export const writeBytesPerUserDefault = 4_194_304;
export const writeBurstSeconds = 10;
/** The rates of writes and bytes for a user's own tokens, sessions and profile, which are rarely written. */
export const ownWritesPerUser = 10;
export const ownWriteBytesPerUser = 1_048_576;
/** The size of an event without an object: a claim of a unique value, a password hash or a token digest. */
export const smallEventBytes = 512;
/**
 * The most writers with a recorded rate (one limit for users and one for networks). When a writer must be dropped, this
 * number of writers is checked.
 */
export const writersKnownMax = 16_384;
export const writersLookedAtMax = 8;
/**
 * The most writes of one object that a node queues (above this limit, the status is 429), and the longest time that a
 * queued write waits before it proceeds.
 */
export const writesWaitingPerObjectMax = 1_024;
export const writeTurnWaitMs = 10_000;
/**
 * The conflicts with other nodes after which retries are delayed, and the longest delay, which is longer than other
 * nodes' bursts.
 */
export const writeLossesAtOnce = 3;
export const writeLossWaitMsMax = 250;
/**
 * The most appends with unknown outcome that a node records until their outcome is known. Above this limit, a write is
 * refused with the status 503 before its event is sent.
 */
export const unsettledMax = 8_192;
/**
 * The time that GET and LIST wait for a `resourceVersion` that this node has not folded yet. After this time, the
 * status is 504.
 */
export const freshnessWaitMs = 2_000;
/**
 * The time that an appended write waits until this node's read models contain it. After this time, the status is 503.
 */
export const writeFoldWaitMs = freshnessWaitMs * 4;
/**
 * The most objects of a collection that are marked before their part of the response is sent, and the number of objects
 * that are marked concurrently. The log commits concurrent marks together.
 */
export const deleteCollectionBatchObjectsMax = 256;
export const deleteCollectionConcurrencyMax = 32;
