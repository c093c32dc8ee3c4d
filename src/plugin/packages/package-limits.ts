/** The limits of packages, by the rules of src/limits. A plugin is code and YAML, not a disk image. */

/** The uploaded archive: held in memory during an install, and stored in the log for ever. */
export const packageBytesMax = 20_971_520;
/** The total size of the unpacked files: compressed text expands to about five times the archive. */
export const packageUnpackedBytesMax = 104_857_600;
/**
 * The highest ratio of DEFLATE (RFC 1951: 258 bytes in two bits): bounds the disk space that a small archive may use.
 */
export const deflateRatioMax = 1_032;
/** One file: each is held in memory while it is unpacked. */
export const packageFileBytesMax = 16_777_216;
/** Files and folders, `node_modules` included. */
export const packageEntriesMax = 10_000;
/** A path within the package, one segment of it (the limit of common file systems), and the number of segments. */
export const packagePathBytesMax = 512;
export const packageNameBytesMax = 255;
export const packageDepthMax = 32;
/** The overhead of one tarball entry: header, padding, a long name. */
export const packageEntryOverheadBytesMax = 2_048;
/** A tarball's extended header, for a long path and times. */
export const packageMetaBytesMax = 16_384;
/** Bytes of the archive in one event: in base64 with metadata it stays below the limit of one append. */
export const packageChunkBytes = 524_288;
/** Chunks read back in one batch: 6 MiB of events. */
export const packageChunksReadMax = 8;
/**
 * Concurrent installs on a node, counted after the upload; each may hold the archive and one of its files in memory.
 * Further ones get 429.
 */
export const packageInstallsMax = 2;
/**
 * How long an install waits for this node to reconcile the plugin and for the leader to report; a start may take 10 s.
 */
export const packageSettledMs = 12_000;
/**
 * The number of look-ups for an incomplete package, and the delay between them: on a replicated log, a follower may
 * lag.
 */
export const packageLookUpsMax = 10;
export const packageLookUpMs = 200;
/** The number of attempts to append a chunk while the log is unavailable. */
export const packageAppendAttemptsMax = 8;
/** Files written at once while a package is unpacked, and their total size. */
export const packageWritesMax = 16;
export const packageWritesBytesMax = packageFileBytesMax;
/** Files read at once to verify the checksum of an unpacked package. */
export const packageReadsMax = 4;
