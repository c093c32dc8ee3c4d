import { createGunzip } from 'node:zlib';

import { Parser, type ReadEntry } from 'tar';

import { ArchiveRefused, shown, type PackageContents } from './package-contents.ts';
import {
  packageEntriesMax,
  packageEntryOverheadBytesMax,
  packageMetaBytesMax,
  packageUnpackedBytesMax,
} from './package-limits.ts';

export type Unpacked = {
  /** The segments of the entry's path in the archive. */
  readonly names: readonly string[];
  /** The content of a file; undefined for a folder. */
  readonly bytes: Buffer | undefined;
};

/** The maximum size of the uncompressed tarball of a valid package. */
const tarBytesMax = packageUnpackedBytesMax + packageEntriesMax * packageEntryOverheadBytesMax;

const kinds: ReadonlyMap<string, 'file' | 'folder'> = new Map([
  ['File', 'file'],
  ['OldFile', 'file'],
  ['ContiguousFile', 'file'],
  ['Directory', 'folder'],
]);
const refusedKinds: ReadonlyMap<string, string> = new Map([
  ['Link', 'a hard link'],
  ['SymbolicLink', 'a symbolic link'],
  ['CharacterDevice', 'a device'],
  ['BlockDevice', 'a device'],
  ['FIFO', 'a pipe'],
]);

/**
 * Yields the entries of a gzipped tarball. Rejects with `ArchiveRefused` if the archive is refused. Any other error
 * means that the archive is damaged.
 */
export async function* tarEntries(archive: Uint8Array, contents: PackageContents): AsyncGenerator<Unpacked, undefined> {
  const reader = new TarReader(contents);
  const gunzip = createGunzip();
  gunzip.end(archive);
  let bytes = 0;
  try {
    for await (const chunk of buffersOf(gunzip)) {
      bytes += chunk.length;
      if (bytes > tarBytesMax)
        throw new ArchiveRefused(`the archive unpacks to more than ${String(packageUnpackedBytesMax)} bytes`);
      yield* reader.write(chunk);
    }
    yield* reader.end();
    return undefined;
  } finally {
    gunzip.destroy();
  }
}

/** Yields the chunks of a byte stream as Buffers. */
export async function* buffersOf(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a byte stream must emit Buffers');
    yield chunk;
  }
}

/**
 * Reads a tarball with the library `tar`, which emits events synchronously. Checks each entry before storing its
 * content.
 */
class TarReader {
  readonly #parser = new Parser({ strict: true, maxMetaEntrySize: packageMetaBytesMax });
  readonly #contents: PackageContents;
  /** Complete entries that are not yielded yet. */
  #ready: Unpacked[] = [];
  #problem: Error | undefined;
  /** Whether the two empty blocks at the end of the tarball were read. */
  #isEnded = false;
  /**
   * The first bytes of the tarball, until they form a complete block; undefined after the format check of this block.
   */
  #head: Buffer | undefined = Buffer.alloc(0);

  constructor(contents: PackageContents) {
    this.#contents = contents;
    this.#parser.on('error', (error: Error) => {
      this.#problem ??= error;
    });
    this.#parser.on('entry', (entry: ReadEntry) => {
      this.#take(entry);
    });
    this.#parser.on('eof', () => {
      this.#isEnded = true;
    });
    this.#parser.on('ignoredEntry', (entry: ReadEntry) => {
      this.#problem ??= new ArchiveRefused(`${shown(entry.path)} has an unsupported type (${entry.type})`);
    });
  }

  write(chunk: Buffer): readonly Unpacked[] {
    if (this.#head === undefined) return this.#parse(chunk);
    this.#head = Buffer.concat([this.#head, chunk]);
    if (this.#head.length < tarBlockBytes) return [];
    // Checks the format before the library reads the block. The library would unpack content that is compressed twice,
    // without a limit for its size.
    if (this.#head.toString('latin1', magicAt, magicAt + magic.length) !== magic)
      throw new ArchiveRefused('the gzipped content is not a tarball');
    const head = this.#head;
    this.#head = undefined;
    return this.#parse(head);
  }

  end(): readonly Unpacked[] {
    if (this.#head !== undefined) throw new ArchiveRefused('the gzipped content is not a tarball');
    this.#parser.end();
    return this.#takeReady();
  }

  #parse(chunk: Buffer): readonly Unpacked[] {
    // Ignores the padding after the end, because the library would process each block of the padding.
    if (!this.#isEnded) this.#parser.write(chunk);
    return this.#takeReady();
  }

  #takeReady(): readonly Unpacked[] {
    if (this.#problem !== undefined) throw this.#problem;
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  #take(entry: ReadEntry): void {
    const names = this.#admit(entry);
    if (names === undefined) {
      entry.resume();
      return;
    }
    const { size } = entry;
    const chunks: Buffer[] = [];
    entry.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
    });
    entry.on('end', () => {
      const bytes = Buffer.concat(chunks);
      if (bytes.length !== size)
        this.#problem ??= new ArchiveRefused(`${shown(entry.path)} does not have its declared size`);
      this.#ready.push({ names, bytes: entry.type === 'Directory' ? undefined : bytes });
    });
  }

  #admit(entry: ReadEntry): readonly string[] | undefined {
    if (this.#problem !== undefined) return undefined;
    try {
      const kind = kinds.get(entry.type);
      if (kind === undefined)
        throw new ArchiveRefused(
          `${shown(entry.path)} is ${refusedKinds.get(entry.type) ?? `of an unsupported type (${entry.type})`}`,
        );
      return this.#contents.admit(entry.path, kind, entry.size);
    } catch (error) {
      this.#problem = error instanceof Error ? error : new Error(String(error));
      return undefined;
    }
  }
}

const tarBlockBytes = 512;
const magicAt = 257;
const magic = 'ustar';
