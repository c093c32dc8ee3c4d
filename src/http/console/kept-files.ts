import { extname } from 'node:path';

import { webEncodings, webTypes, type WebFile } from '../../plugin/api/front-end.ts';
import { tagOf, type EncodedFile } from './encoded-file.ts';

/** A requested file. `files` contains the files of its folder, by name. */
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
 * Caches files in memory. The limit applies to the total size, including the files that are being loaded. Above the
 * limit, the least recently requested files are dropped, and a further load waits for the loads in progress. Concurrent
 * requests share one load. A failed load is not cached, because the error may be transient.
 */
export class KeptFiles {
  readonly #bytesMax: number;
  /** The files by folder and name, least recently requested first. */
  readonly #files = new Map<string, Kept>();
  /** The loads in progress, including loads of files that were dropped in the meantime. */
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

  /** Reads a file. Waits until the loads in progress leave room for the file. */
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

  /**
   * Drops loaded files until the size is within the limit. Keeps files that are being loaded, because dropping them
   * would not free memory.
   */
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
