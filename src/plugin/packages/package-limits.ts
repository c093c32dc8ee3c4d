/** The maximum size of an uploaded archive, which is in memory during an install and remains in the log forever. */
export const packageBytesMax = 20_971_520;
/**
 * The maximum total size of the unpacked files: five times the maximum archive, the usual ratio for compressed text.
 */
export const packageUnpackedBytesMax = 104_857_600;
/**
 * The maximum compression ratio of DEFLATE (RFC 1951: 258 bytes in two bits), which limits the disk space that a small
 * archive may use.
 */
export const deflateRatioMax = 1_032;
/** The maximum size of one file, which is in memory while it is unpacked. */
export const packageFileBytesMax = 16_777_216;
/** The maximum number of files and folders, including `node_modules`. */
export const packageEntriesMax = 10_000;
export const packagePathBytesMax = 512;
/** The maximum length of one segment of a path, which is the limit of common file systems. */
export const packageNameBytesMax = 255;
export const packageDepthMax = 32;
/** The maximum overhead of one tarball entry: the header, the padding and a long name. */
export const packageEntryOverheadBytesMax = 2_048;
/** The maximum size of a tarball's extended header, which may contain a long path and times. */
export const packageMetaBytesMax = 16_384;
/** The number of bytes of the archive in one event. An event with these bytes in base64 fits into one append. */
export const packageChunkBytes = 524_288;
/** The maximum number of chunks that are read in one batch: about 6 MiB of events. */
export const packageChunksReadMax = 8;
/**
 * The maximum number of concurrent installs and upgrades on a node, because each has its archive in memory. Further
 * requests are refused with 429.
 */
export const packageInstallsMax = 2;
/**
 * The maximum time that an install waits for this node to reconcile the plugin, and for the leader to report the state.
 * The time is longer than the limit of a plugin's start (10 s).
 */
export const packageSettledMs = 12_000;
/**
 * The maximum number of reads of an incomplete package. In a replicated log, a follower may not have all events yet.
 */
export const packageLookUpsMax = 10;
/** The delay before an incomplete package is read again, and before an append is retried. */
export const packageLookUpMs = 200;
/** The maximum number of attempts to append a chunk. An attempt fails while the log is unavailable. */
export const packageAppendAttemptsMax = 8;
/** The maximum number of files that are written concurrently while a package is unpacked. */
export const packageWritesMax = 16;
/** The total size of files that are being written, above which no further file is written. */
export const packageWritesBytesMax = packageFileBytesMax;
/** The number of files that are read concurrently to verify the checksum of an unpacked package. */
export const packageReadsMax = 4;
