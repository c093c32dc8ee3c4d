/** Limits of the disk of `DATA_DIR`, and of file descriptors. Each name contains its unit. */

/**
 * The reserve if DISK_RESERVE is not set: this share of the file system, but at most this number of bytes. 1 GiB is
 * enough to delete 680 of the largest objects.
 */
export const diskReserveShareMax = 0.05;
export const diskReserveBytesMax = 1_073_741_824;
/**
 * The interval at which the free space is read. Between two readings, the server subtracts an estimate of the bytes
 * that it writes.
 */
export const diskLookMs = 1_000;
/**
 * The estimated disk space of one event: its bytes, once in the log and once in the read models, plus a page of 4 KiB
 * in each of them. If the estimate is too high, writes may be refused for up to two intervals although the free space
 * exceeds the reserve. If it is too low, a burst of writes may use a part of the reserve.
 */
export const diskEventCopies = 2;
export const diskEventOverheadBytes = 8_192;
/**
 * After writes were refused, they are accepted again when the free space exceeds the reserve by this share of the
 * reserve. Without this margin, the state could alternate at the limit.
 */
export const diskReserveMarginShare = 1 / 16;
/**
 * If the free space is below this share of the reserve, log-ins and records of token use stop, because deletions need
 * the rest of the reserve. Super administrators must free space, so they can log in at the rate `scarceLogIns`. With 40
 * KB for each log-in, these log-ins use at most 60 MB a day.
 */
export const diskReserveLogInShare = 1 / 2;
export const scarceLogIns = { perSecond: 1 / 60, burst: 10 } as const;
/**
 * The `Retry-After` of a refusal because of low disk space. The delay is long because an operator must free space
 * first.
 */
export const diskRetryAfterSeconds = 30;
/**
 * The free space that the server needs to open its stores. A first start writes 0.3 MiB to the log and the read models.
 * The limit is more than ten times as high, because deletions append events before they free space.
 */
export const diskStartBytesMin = 4_194_304;
/** The size of LMDB's lock file for 1,024 readers, rounded up to whole pages. */
export const lmdbLockBytes = 69_632;
/**
 * The file descriptors that must be free at the start. Twelve are for the stores, some are for workers and plugins, and
 * the rest are for connections.
 */
export const descriptorsFreeMin = 128;
/** The limit of open files that the error message about too few file descriptors recommends. */
export const descriptorsMin = 1_024;
/** The shortest interval between two log messages about failures to accept connections. */
export const acceptReportMs = 60_000;
