/**
 * Bounds of lists and selectors. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** One labelSelector or fieldSelector parameter, and how many requirements all of them may hold together. */
export const selectorBytesMax = 16_384;
export const selectorRequirementsMax = 64;
/** Values in one `in (…)` set. */
export const selectorSetValuesMax = 256;
/** Sort keys of one list. */
export const sortKeysMax = 8;
/** A list answer up to this many objects and bytes is joined in one turn; a longer one is streamed at its reader's pace. */
export const listJoinedObjectsMax = 1_000;
export const listJoinedBytesMax = 1_048_576;
/** Objects joined per slice of a streamed list before the loop is yielded, and the bytes from which on a slice is whole. */
export const listSliceObjectsMax = 256;
export const listSliceBytesMax = 262_144;
/** Time of one turn of the event loop for choosing and reading long lists, all of them together. */
export const listTurnMs = 4;
/** Names read at once where the server looks at every object of a type: a page takes well under a millisecond. */
export const namePageObjectsMax = 512;
/** Recent list answers kept by query and position. */
export const listCacheBytesMax = 16_777_216;
/** Read snapshots held at once; those that clients do not get are for plugins' own lists. */
export const snapshotsMax = 64;
/** How long one streamed list may hold its snapshot: LMDB cannot reuse pages freed since. */
export const snapshotHoldMsMax = 120_000;
/** A query longer than this is rarely asked twice. */
export const listCacheQueryLengthMax = 2_048;
/** Snapshots of clients' long lists and initial watch states at once: in all, of one user, and from one address. Others wait in turn. */
export const snapshotPlacesMax = 56;
export const snapshotsPerUserMax = 8;
export const snapshotsPerAddressMax = 16;
/** How many may wait for one, in all and of one user (a visitor's address), and how long: past any of it 429. */
export const snapshotWaitersMax = 1_024;
export const snapshotWaitersPerUserMax = 128;
export const snapshotWaitMs = 30_000;
/** How long a reader may take nothing before it loses its snapshot to one who waits. */
export const snapshotStallMs = 10_000;
/** A streamed answer is written in pieces of this size: a peer that takes one has taken something. */
export const streamPieceBytesMax = 65_536;
