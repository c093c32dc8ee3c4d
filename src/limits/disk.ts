/**
 * Bounds of the disk that DATA_DIR is on. A name ends in its unit. A bound is tested at n and n + 1, and the error past it
 * names it.
 */

/** The reserve unless DISK_RESERVE is set: the smaller of the two. 1 GiB has room to delete 680 of the largest objects. */
export const diskReserveShareMax = 0.05;
export const diskReserveBytesMax = 1_073_741_824;
/** How often the file system reports its free space. Between two looks, written bytes are estimated. */
export const diskLookMs = 1_000;
/**
 * What one event takes on the disk: its bytes in the log and in the read models, and a page of 4 KiB in each. Too high an
 * estimate refuses writes near the reserve for up to two looks; too low a one lets a burst pass into the reserve.
 */
export const diskEventCopies = 2;
export const diskEventOverheadBytes = 8_192;
/** Writes resume when this share of the reserve is free above it, so that a disk at the border does not alternate. */
export const diskReserveMarginShare = 1 / 16;
/**
 * Below this share of the reserve log-ins and notes of token use stop: clients cause them, deletions need the rest.
 * Super administrators, who are to make room, have so many log-ins: with 40 KB each they take 60 MB a day at most.
 */
export const diskReserveLogInShare = 1 / 2;
export const scarceLogIns = { perSecond: 1 / 60, burst: 10 } as const;
/** How long a refused client should wait: an operator has to make room. */
export const diskRetryAfterSeconds = 30;
/**
 * What must be free to open a store for writing. A first start writes 0.3 MiB to the log and the read models; ten times that
 * leaves room to free space by deletions, whose events come first.
 */
export const diskStartBytesMin = 4_194_304;
/** LMDB's lock file for 1,024 readers, rounded up to pages. */
export const lmdbLockBytes = 69_632;
/** Open files that must be free at the start: twelve for the stores, some for workers and plugins, the rest for connections. */
export const descriptorsFreeMin = 128;
/** What an operator is told to raise the limit to. */
export const descriptorsMin = 1_024;
/** How often failing accepts are reported. */
export const acceptReportMs = 60_000;
