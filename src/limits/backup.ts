/** Limits of backups. Each name ends in its unit. They pace the work: no request can exceed them. */

/** A new segment file begins beyond this size, so that no file is too large for a tool that stores it elsewhere. */
export const backupSegmentBytesMax = 268_435_456;
/** Records that are read from the log in one transaction, and written together: the memory of a backup. */
export const backupPieceBytesMax = 1_048_576;
/** Files of one backup: 2.4 TiB of records. */
export const backupSegmentsMax = 9_999;
/** Backups in one folder, each of which adds to those before: one an hour for eleven centuries. */
export const backupsMax = 9_999_999;
/** A manifest with as many segments as a backup may have. */
export const backupManifestBytesMax = 4_194_304;
/** The memory of the thread that writes a backup. */
export const backupHeapMegabytesMax = 256;
/** How often a backup reports its progress, and reads the free space of the disk. */
export const backupReportMs = 250;
/** How long a backup waits for the tree to have the last events: as a rule it has them within milliseconds. */
export const backupTreeMs = 5_000;
/** How long a refused client should wait for the backup that runs. */
export const backupRetryAfterSeconds = 5;
/** Records that a restore writes in one transaction, and their bytes. */
export const restoreBatchRecordsMax = 4_096;
export const restoreBatchBytesMax = 8_388_608;
