/** The bounds of packages; the same rules hold here as in src/limits. A plugin is code and YAML, not a disk image. */

/** The archive as uploaded: it is in memory once while it is installed, and in the log for good. */
export const packageBytesMax = 20_971_520;
/** What it unpacks to, all files together: five times the archive is what compressed text comes to. */
export const packageUnpackedBytesMax = 104_857_600;
/** Bytes that one byte of an archive unpacks to at most (RFC 1951: 258 in two bits): bounds the disk that a small one takes. */
export const deflateRatioMax = 1_032;
/** One file: each is in memory once while it is unpacked. */
export const packageFileBytesMax = 16_777_216;
/** Files and folders, those of `node_modules` included. */
export const packageEntriesMax = 10_000;
/** A path within the package, one name of it (what common file systems take), and how many names it has. */
export const packagePathBytesMax = 512;
export const packageNameBytesMax = 255;
export const packageDepthMax = 32;
/** What a tarball says of one entry beside its content: header, padding, a long name. */
export const packageEntryOverheadBytesMax = 2_048;
/** A tarball's extended header: a long path and times, no more. */
export const packageMetaBytesMax = 16_384;
/** Bytes of the archive in one event: as base64 and with metadata it stays below what one append may hold. */
export const packageChunkBytes = 524_288;
/** Chunks read back at once: 6 MiB of events. */
export const packageChunksReadMax = 8;
/** Archives that are taken in at once on a node, once they have arrived; each may hold the archive and one file of it in memory. Past it 429. */
export const packageInstallsMax = 2;
/** How long an install waits until this node has settled its plugin, and the one that leads has told so; a start may take 10 s. */
export const packageSettledMs = 12_000;
/** How often what the log does not hold yet is looked for again, and the pause between: a log of several nodes may be behind. */
export const packageLookUpsMax = 10;
export const packageLookUpMs = 200;
/** How often a chunk is sent again while the log does not answer. */
export const packageAppendAttemptsMax = 8;
/** Files that are written at once while a package is unpacked, and their bytes; files read at once to see whether it still lies there as it was. */
export const packageWritesMax = 16;
export const packageWritesBytesMax = packageFileBytesMax;
export const packageReadsMax = 4;
