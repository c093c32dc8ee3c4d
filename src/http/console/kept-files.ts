import { extname } from 'node:path';

import { webEncodings, webTypes, type WebFile } from '../../plugin/api/front-end.ts';
import { tagOf, type EncodedFile } from './encoded-file.ts';

/** A file of a folder, as a request names it. */
export type FileRequest = {
  /** Identifies the folder among all folders, for example `content/<digest>/`. */
  readonly folder: string;
  readonly files: ReadonlyMap<string, WebFile>;
  /** The path of the file in its folder, with forward slashes. */
  readonly name: string;
  readonly accepts: (encoding: string) => boolean;
  /** Whether the address of the file changes with its content. */
  readonly isHashed: boolean;
};

type Kept = {
  readonly loading: Promise<EncodedFile | undefined>;
  /** 0 until the file is loaded. */
  bytes: number;
  isLoaded: boolean;
};

/**
 * Files in memory, up to a total size, which includes files that are being loaded. Beyond it, the files that were
 * requested least recently are dropped, and further loads wait for those under way. Each file is loaded once for
 * concurrent requests. A missing file is not remembered, since the failure may be temporary.
 */
export class KeptFiles {
  readonly #bytesMax: number;
  /** The least recently requested file is the first one. */
  readonly #files = new Map<string, Kept>();
  /** The loads under way, also those of files that were dropped meanwhile. */
  readonly #loads = new Set<Promise<unknown>>();
  #bytes = 0;
  #loadingBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The size of all files in memory. */
  get bytes(): number {
    return this.#bytes + this.#loadingBytes;
  }

  /**
   * Resolves with a file in the most compact encoding that the client accepts. Resolves with undefined for an unknown
   * name, and for a file that cannot be read.
   */
  async find({ folder, files, name, accepts, isHashed }: FileRequest): Promise<EncodedFile | undefined> {
    const type = webTypes.get(extname(name));
    if (type === undefined || !files.has(name)) return undefined;
    const chosen = webEncodings.find((each) => files.has(name + each.extension) && accepts(each.name));
    const path = name + (chosen?.extension ?? '');
    const file = files.get(path);
    if (file === undefined) return undefined;
    return this.#find(folder + path, file, (bytes) => ({
      bytes,
      type,
      encoding: chosen?.name,
      etag: tagOf(bytes),
      isHashed,
    }));
  }

  /** Drops the files of the folders whose names begin with `prefix`. */
  drop(prefix: string): void {
    for (const key of this.#files.keys()) if (key.startsWith(prefix)) this.#drop(key);
  }

  async #find(key: string, file: WebFile, encoded: (bytes: Buffer) => EncodedFile): Promise<EncodedFile | undefined> {
    const known = this.#files.get(key);
    if (known !== undefined) {
      this.#files.delete(key);
      this.#files.set(key, known);
      return known.loading;
    }
    const loading = this.#load(file).then((bytes) => bytes && encoded(bytes));
    const kept: Kept = { loading, bytes: 0, isLoaded: false };
    this.#files.set(key, kept);
    const loaded = await loading;
    if (this.#files.get(key) === kept) this.#settle(key, kept, loaded);
    return loaded;
  }

  /** Reads a file when there is room for it beside the loads under way. */
  async #load(file: WebFile): Promise<Buffer | undefined> {
    while (this.#loads.size > 0 && this.#loadingBytes + file.bytes > this.#bytesMax) await Promise.race(this.#loads);
    this.#loadingBytes += file.bytes;
    this.#makeRoom();
    const load = file.read();
    this.#loads.add(load);
    try {
      return await load;
    } finally {
      this.#loads.delete(load);
      this.#loadingBytes -= file.bytes;
    }
  }

  #settle(key: string, kept: Kept, file: EncodedFile | undefined): void {
    kept.isLoaded = true;
    kept.bytes = file?.bytes.length ?? 0;
    this.#bytes += kept.bytes;
    if (file === undefined) this.#drop(key);
    this.#makeRoom();
  }

  /** Drops loaded files until the size is within the limit. A load under way would stay in memory nevertheless. */
  #makeRoom(): void {
    for (const [key, { isLoaded }] of this.#files) {
      if (this.bytes <= this.#bytesMax) return;
      if (isLoaded) this.#drop(key);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#files.get(key)?.bytes ?? 0;
    this.#files.delete(key);
  }
}
