/** The most attempts of a write, if other writers change the object before each append. */
export const writeAttemptsMax = 16;
/** The longest time that a write waits for another write's pending append. Then the waiting write fences the append. */
export const claimPendingWaitMs = 2_000;
/**
 * The most writes in flight. Further writes get the status 429. Super administrators and the platform share a separate
 * limit of the same size. Each other writer may have at most as many writes in flight as there are free slots.
 */
export const writesInFlightMax = 4_096;
/**
 * The most memory of all requests and writes in flight: the bodies, the parsed values and the events. Each writer may
 * use at most as many bytes as are free.
 */
export const heldBytesMax = 268_435_456;
/** The memory that is counted for each value of parsed JSON, in addition to its text. The worst case uses 64 bytes. */
export const parsedValueBytes = 96;
/** A write in flight has three copies of an event's data in memory: the encoded event, the object, and the response. */
export const eventCopiesHeld = 3;
/** The default rates of a user's writes and bytes, per second. */
export const writesPerUserDefault = 100;
export const writeBytesPerUserDefault = 4_194_304;
/** A burst may use as much as the rate allows in this time. */
export const writeBurstSeconds = 10;
/** The rates, per second, at which a user may write the user's own tokens, sessions and profile. */
export const ownWritesPerUser = 10;
export const ownWriteBytesPerUser = 1_048_576;
/** The size that the limits of writes assume for an event without an object, such as a claim of a unique value. */
export const smallEventBytes = 512;
/** The most writers of one kind (such as users, or networks of visitors) with recorded rate limits. */
export const writersKnownMax = 16_384;
/** When `writersKnownMax` is reached, at most this number of writers is checked for a writer that can be dropped. */
export const writersLookedAtMax = 8;
/** The most writes of one object that a node queues. Further writes get the status 429. */
export const writesWaitingPerObjectMax = 1_024;
/** After this time, a queued write proceeds even if the writes before it have not ended. */
export const writeTurnWaitMs = 10_000;
/** The number of lost races for an append after which a write delays each further retry. */
export const writeLossesAtOnce = 3;
/**
 * The longest delay before a write retries after a lost race. The delay exceeds the duration of another node's burst of
 * writes.
 */
export const writeLossWaitMsMax = 250;
/** The most appends with unknown outcome that a node records. At this limit, writes get the status 503. */
export const unsettledMax = 8_192;
/**
 * The time that GET and LIST wait for a `resourceVersion` that this node has not folded yet. Then the status is 504.
 */
export const freshnessWaitMs = 2_000;
/** The time that an appended write waits until this node's read models contain the write. Then the status is 503. */
export const writeFoldWaitMs = freshnessWaitMs * 4;
/**
 * The most objects in one batch of the deletion of a collection. A batch is sent to the client before the next batch
 * begins.
 */
export const deleteCollectionBatchObjectsMax = 256;
/** The most objects that the deletion of a collection deletes concurrently. */
export const deleteCollectionConcurrencyMax = 32;
/** The time that a write waits during an upgrade of its plugin. Then the status is 503. */
export const upgradeWaitMs = 5_000;
/** An upgrade is under way if plugins or declarations have changed in this time. Otherwise no write waits. */
export const upgradeLatelyMs = 30_000;
/** The most writes that wait during upgrades. Each writer that is not trusted may use as many places as are free. */
export const upgradeWaitsMax = 1_024;
/** No write begins to wait while requests and writes in flight have more memory than this. */
export const upgradeWaitsHeldBytesMax = heldBytesMax / 4;
/** The time in each turn of the event loop in which writes continue after a wait. */
export const upgradeTurnMs = 10;
