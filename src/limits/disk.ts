/**
 * Limits of DATA_DIR's disk. Each name contains its unit. A test checks each limit at n and n + 1, and each error
 * message states the limit.
 */

/**
 * The reserve if DISK_RESERVE is not set: the smaller of these two limits. 1 GiB is enough to delete 680 of the largest
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
/**
 * Writes resume when the free space exceeds the reserve by this share of the reserve. The margin prevents a state that
 * alternates at the limit.
 */
export const diskReserveMarginShare = 1 / 16;
/**
 * The share of the reserve below which log-ins and records of token use stop, because deletions need the rest of the
 * reserve. Super administrators must free space, so they can still log in at the rate `scarceLogIns`. With 40 KB for
 * each log-in, that is at most 60 MB a day.
 */
export const diskReserveLogInShare = 1 / 2;
export const scarceLogIns = { perSecond: 1 / 60, burst: 10 } as const;
/**
 * The Retry-After for a client that is refused because of low space. The delay is long because an operator must free
 * space.
 */
export const diskRetryAfterSeconds = 30;
/**
 * The free space needed to open a store for writing. A first start writes 0.3 MiB to the log and the read models. Ten
 * times as much leaves space for deletions, which append events before they free space.
 */
export const diskStartBytesMin = 4_194_304;
/** LMDB's lock file for 1,024 readers, rounded up to pages. */
export const lmdbLockBytes = 69_632;
/**
 * File descriptors that must be available at the start: twelve for the stores, some for workers and plugins, the rest
 * for connections.
 */
export const descriptorsFreeMin = 128;
/** The limit of open files that the error message about too few file descriptors recommends. */
export const descriptorsMin = 1_024;
/** The interval at which failures to accept connections are logged. */
export const acceptReportMs = 60_000;
