/**
 * Limits of DATA_DIR's disk. Each name ends in its unit. Each limit is tested at n and n + 1, and its error states it.
 */

/**
 * The default reserve, unless DISK_RESERVE is set: the smaller of the two. 1 GiB has room to delete 680 of the largest
 * objects.
 */
export const diskReserveShareMax = 0.05;
export const diskReserveBytesMax = 1_073_741_824;
/** How often the free space is read. In between, written bytes are estimated. */
export const diskLookMs = 1_000;
/**
 * The disk space of one event: its bytes in the log and in the read models, plus a page of 4 KiB in each. If the
 * estimate is too high, writes near the reserve are refused for up to two intervals; if it is too low, a burst may use
 * the reserve.
 */
export const diskEventCopies = 2;
export const diskEventOverheadBytes = 8_192;
/** Writes resume when this share of the reserve is free above it, so that the state does not alternate at the limit. */
export const diskReserveMarginShare = 1 / 16;
/**
 * The share of the reserve below which log-ins and records of token use stop: clients cause them, and deletions need
 * the rest. Super administrators must free space, so they keep this rate of log-ins: at 40 KB each at most 60 MB a day.
 */
export const diskReserveLogInShare = 1 / 2;
export const scarceLogIns = { perSecond: 1 / 60, burst: 10 } as const;
/** How long a refused client should wait: an operator must free space. */
export const diskRetryAfterSeconds = 30;
/**
 * The free space needed to open a store for writing. A first start writes 0.3 MiB to the log and the read models; ten
 * times that leaves room for deletions, which append events before they free space.
 */
export const diskStartBytesMin = 4_194_304;
/** LMDB's lock file for 1,024 readers, rounded up to pages. */
export const lmdbLockBytes = 69_632;
/**
 * File descriptors that must be free at the start: twelve for the stores, some for workers and plugins, the rest for
 * connections.
 */
export const descriptorsFreeMin = 128;
/** The limit of open files that the error recommends. */
export const descriptorsMin = 1_024;
/** The interval at which failing accepts are logged. */
export const acceptReportMs = 60_000;
