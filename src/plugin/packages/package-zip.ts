import { fromBufferPromise, getFileNameLowLevel, type Entry } from 'yauzl';

import { ArchiveRefused, shown, type PackageContents } from './package-contents.ts';
import { packageEntriesMax } from './package-limits.ts';
import { buffersOf, type Unpacked } from './package-tar.ts';

/** The host systems that write Unix file modes into zip entries (APPNOTE 4.4.2). */
const unixHosts: ReadonlySet<number> = new Set([3, 19]);
const kindMask = 0o170000;
const plainKinds: ReadonlySet<number> = new Set([0, 0o100000, 0o040000]);
const encryptedFlags = 0x0001 | 0x0040;
/** The supported compression methods: stored and deflated. Every tool can write them. */
const readMethods: ReadonlySet<number> = new Set([0, 8]);

/**
 * Yields the entries of a zip. Rejects with `ArchiveRefused` if the archive is refused. Any other error means that the
 * archive is damaged.
 */
export async function* zipEntries(archive: Uint8Array, contents: PackageContents): AsyncGenerator<Unpacked, undefined> {
  // Decodes the names of entries here. The library would convert backslashes, and its errors would not contain the
  // entry's name.
  const zip = await fromBufferPromise(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength), {
    decodeStrings: false,
    validateEntrySizes: true,
  });
  if (zip.entryCount > packageEntriesMax)
    throw new ArchiveRefused(`the archive has more than ${String(packageEntriesMax)} files and folders`);
  for await (const entry of zip.eachEntry()) {
    const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true);
    const isFolder = name.endsWith('/');
    const problem = kindProblem(entry, isFolder);
    if (problem !== undefined) throw new ArchiveRefused(`${shown(name)} ${problem}`);
    const names = contents.admit(name, isFolder ? 'folder' : 'file', entry.uncompressedSize);
    if (isFolder) {
      yield { names, bytes: undefined };
      continue;
    }
    const chunks: Buffer[] = [];
    // The library ends the stream with an error if an entry's content does not have the declared size.
    for await (const chunk of buffersOf(await zip.openReadStreamPromise(entry))) chunks.push(chunk);
    yield { names, bytes: Buffer.concat(chunks) };
  }
  return undefined;
}

function kindProblem(entry: Entry, isFolder: boolean): string | undefined {
  const { generalPurposeBitFlag, compressionMethod, versionMadeBy, externalFileAttributes } = entry;
  if ((generalPurposeBitFlag & encryptedFlags) !== 0) return 'is encrypted';
  if (!readMethods.has(compressionMethod))
    return `uses an unsupported compression method (${String(compressionMethod)})`;
  const kind = unixHosts.has(versionMadeBy >>> 8) ? (externalFileAttributes >>> 16) & kindMask : 0;
  if (kind === 0o120000) return 'is a symbolic link';
  if (!plainKinds.has(kind)) return 'is neither a file nor a folder';
  return kind === 0o040000 && !isFolder ? 'is a folder, but its name does not end with a slash' : undefined;
}
