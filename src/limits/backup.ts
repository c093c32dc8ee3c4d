/** Limits of backups. Each name contains its unit. */

/**
 * When a segment file reaches this size, a backup begins a new one, so that no file is too large for the tools that
 * copy backups.
 */
export const backupSegmentBytesMax = 268_435_456;
/**
 * The most bytes of records that are read from the log in one transaction and are written together. This limits the
 * memory of a backup.
 */
export const backupPieceBytesMax = 1_048_576;
/** The most segment files of one backup. With the size above, they hold 2.4 TiB of records. */
export const backupSegmentsMax = 9_999;
/**
 * The most backups in one folder. A backup continues the earlier backups of its folder. With one backup an hour, the
 * limit is reached after eleven centuries.
 */
export const backupsMax = 9_999_999;
/** The maximum size of a manifest. A manifest with `backupSegmentsMax` segments fits. */
export const backupManifestBytesMax = 4_194_304;
/** The maximum memory of the thread that writes a backup. */
export const backupHeapMegabytesMax = 256;
/** The interval at which a backup reports its progress and reads the free space of the disk. */
export const backupReportMs = 250;
/**
 * The longest time that a backup waits until the Merkle tree contains the latest events of the log. This usually takes
 * milliseconds.
 */
export const backupTreeMs = 5_000;
/** The `Retry-After` of a backup's refusal that a retry may resolve, for example because another backup is running. */
export const backupRetryAfterSeconds = 5;
/** The most records, and the most bytes of records, that a restore writes in one transaction. */
export const restoreBatchRecordsMax = 4_096;
export const restoreBatchBytesMax = 8_388_608;
