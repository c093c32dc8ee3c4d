/**
 * When a segment file reaches this size, a backup begins a new file. Tools that copy backups may refuse larger files.
 */
export const backupSegmentBytesMax = 268_435_456;
/** The most bytes of records that a backup reads from the log in one transaction. */
export const backupPieceBytesMax = 1_048_576;
/** The most segment files of one backup: 2.4 TiB of records. */
export const backupSegmentsMax = 9_999;
/** The most backups in one folder. One backup an hour reaches this limit after eleven centuries. */
export const backupsMax = 9_999_999;
/** The maximum size of a manifest. A manifest with `backupSegmentsMax` segments fits. */
export const backupManifestBytesMax = 4_194_304;
/** The maximum heap of the thread that writes a backup. */
export const backupHeapMegabytesMax = 256;
/** The interval at which a backup reports its progress and reads the free space of the disk. */
export const backupReportMs = 250;
/** The longest time that a backup waits until the Merkle tree contains the latest events of the log. */
export const backupTreeMs = 5_000;
/** The `Retry-After` of a refused backup if a retry may succeed, for example because another backup is running. */
export const backupRetryAfterSeconds = 5;
/** The most records that a restore writes in one transaction. */
export const restoreBatchRecordsMax = 4_096;
/** The most bytes of records that a restore writes in one transaction. */
export const restoreBatchBytesMax = 8_388_608;
