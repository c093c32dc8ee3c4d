/** Limits of backups. Each name contains its unit. The limits pace the work; no request can exceed them. */

/**
 * Above this size, a backup begins a new segment file, so that no file is too large for the tools that copy backups.
 */
export const backupSegmentBytesMax = 268_435_456;
/**
 * The most bytes of records that are read from the log in one transaction, and written together: the memory of a
 * backup.
 */
export const backupPieceBytesMax = 1_048_576;
/** The most files of one backup: 2.4 TiB of records. */
export const backupSegmentsMax = 9_999;
/**
 * The most backups in one folder. Each backup adds to the backups before it. With one backup an hour, the limit is
 * reached after eleven centuries.
 */
export const backupsMax = 9_999_999;
/** The maximum size of a manifest. A manifest with `backupSegmentsMax` segments fits. */
export const backupManifestBytesMax = 4_194_304;
/** The maximum memory of the thread that writes a backup. */
export const backupHeapMegabytesMax = 256;
/** How often a backup reports its progress, and reads the free space of the disk. */
export const backupReportMs = 250;
/** How long a backup waits until the tree contains the last events, which usually takes milliseconds. */
export const backupTreeMs = 5_000;
/** The Retry-After for a client that is refused because another backup runs. */
export const backupRetryAfterSeconds = 5;
/** The maximum number and the most bytes of the records that a restore writes in one transaction. */
export const restoreBatchRecordsMax = 4_096;
export const restoreBatchBytesMax = 8_388_608;
