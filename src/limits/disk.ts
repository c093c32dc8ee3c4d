/** Limits of the disk of `DATA_DIR`, and of file descriptors. */

/** Without DISK_RESERVE, the reserve is this share of the file system. */
export const diskReserveShareMax = 0.05;
/**
 * The most bytes of the reserve without DISK_RESERVE. The events of 680 deletions of objects of the maximum size fit.
 */
export const diskReserveBytesMax = 1_073_741_824;
/**
 * The interval at which the free space is read. Until the next reading, the server subtracts an estimate of its writes.
 */
export const diskLookMs = 1_000;
/** The estimate of an event's disk space counts the event's bytes twice: in the log, and in the read models. */
export const diskEventCopies = 2;
/** The estimated disk space of an event in addition to its bytes: a page of 4 KiB for each copy. */
export const diskEventOverheadBytes = 8_192;
/**
 * Refused writes are accepted again when the free space exceeds the reserve by this share of the reserve. Without this
 * margin, the state could alternate at the limit.
 */
export const diskReserveMarginShare = 1 / 16;
/**
 * If less than this share of the reserve is free, log-ins and records of token use stop, because deletions need the
 * rest.
 */
export const diskReserveLogInShare = 1 / 2;
/**
 * The rate of super administrators' log-ins if less than `diskReserveLogInShare` is free. Their events take at most 60
 * MB of the disk a day.
 */
export const scarceLogIns = { perSecond: 1 / 60, burst: 10 } as const;
/** The `Retry-After` of a refusal because of low disk space. It is long, because an operator must free space first. */
export const diskRetryAfterSeconds = 30;
/** The free space that the server needs to open its stores. A first start writes 0.3 MiB; the rest is for deletions. */
export const diskStartBytesMin = 4_194_304;
/** The size of LMDB's lock file for 1,024 readers, rounded up to whole pages. */
export const lmdbLockBytes = 69_632;
/**
 * The file descriptors that must be free at the start. The stores need twelve; workers, plugins and connections need
 * the rest.
 */
export const descriptorsFreeMin = 128;
/** The limit of open files that the error about too few file descriptors recommends. */
export const descriptorsMin = 1_024;
/** The shortest interval between two log messages about failures to accept connections. */
export const acceptReportMs = 60_000;
