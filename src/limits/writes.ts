/** Limits of writes. Each name contains its unit. */

/** The most attempts of a write, if other writers change the object before each append. */
export const writeAttemptsMax = 16;
/**
 * The longest time that a write waits for the pending append of another write, for example of a write with a claim on
 * the same value. After this time, the waiting write fences the append (consistency protocol, 1).
 */
export const claimPendingWaitMs = 2_000;
/**
 * The most writes in flight. Above this limit, the status is 429, so that memory stays bounded if the disk stalls.
 * Super administrators and the platform together have a separate limit of the same size. Every other writer may have at
 * most as many writes in flight as there are free slots.
 */
export const writesInFlightMax = 4_096;
/**
 * The most memory of all requests and writes in flight together: the bodies, their parsed values, and the events. Each
 * writer may use at most as many bytes as are free.
 */
export const heldBytesMax = 268_435_456;
/**
 * The memory that is counted for each value of parsed JSON, in addition to its text. The worst case, an empty object in
 * an array, uses 64 bytes.
 */
export const parsedValueBytes = 96;
/**
 * The number of copies of an event's data that a write in flight has in memory: the encoded event, the object, and the
 * response.
 */
export const eventCopiesHeld = 3;
/**
 * The default rates of a user's writes and bytes. A burst may use as much as this rate allows in `writeBurstSeconds`.
 */
export const writesPerUserDefault = 100;
export const writeBytesPerUserDefault = 4_194_304;
export const writeBurstSeconds = 10;
/**
 * The rates, per second, at which a user may write the user's own tokens, sessions and profile. These are rarely
 * written.
 */
export const ownWritesPerUser = 10;
export const ownWriteBytesPerUser = 1_048_576;
/**
 * The bytes that are counted for an event without an object: a claim of a unique value, a password hash or a token
 * digest.
 */
export const smallEventBytes = 512;
/**
 * The most writers of one kind (users, super administrators, plugins, or networks of visitors) for which the state of
 * their rate limits is recorded. At this limit, up to `writersLookedAtMax` writers are checked for one that can be
 * dropped.
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
 * The number of lost races for an append after which a write delays each further retry, and the longest delay. The
 * longest delay exceeds the duration of another node's burst of writes.
 */
export const writeLossesAtOnce = 3;
export const writeLossWaitMsMax = 250;
/**
 * The most appends with unknown outcome that a node records. At this limit, a write is refused with the status 503
 * before its event is appended, until the outcome of a recorded append is known.
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
 * The most objects in one batch of the deletion of a collection, and the most objects of a batch that are deleted
 * concurrently. The deleted objects of a batch are sent to the client before the next batch begins. The log commits
 * concurrent writes together.
 */
export const deleteCollectionBatchObjectsMax = 256;
export const deleteCollectionConcurrencyMax = 32;
