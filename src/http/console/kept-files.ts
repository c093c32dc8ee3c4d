import type { EncodedFile } from './encoded-file.ts';

type Kept = {
  readonly loading: Promise<EncodedFile | undefined>;
  /** 0 until the file is loaded. */
  bytes: number;
};

/**
 * Files in memory, up to a total size. Beyond it, the files that were requested least recently are dropped. Each file
 * is loaded once for concurrent requests. A missing file is not remembered, since the failure may be temporary.
 */
export class KeptFiles {
  readonly #bytesMax: number;
  /** The least recently requested file is the first one. */
  readonly #files = new Map<string, Kept>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The size of all files in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves with the file of this key. `load` must not reject. */
  async find(key: string, load: () => Promise<EncodedFile | undefined>): Promise<EncodedFile | undefined> {
    const known = this.#files.get(key);
    if (known !== undefined) {
      this.#files.delete(key);
      this.#files.set(key, known);
      return known.loading;
    }
    const kept: Kept = { loading: load(), bytes: 0 };
    this.#files.set(key, kept);
    const file = await kept.loading;
    if (this.#files.get(key) === kept) this.#settle(key, kept, file);
    return file;
  }

  /** Drops the files whose keys begin with `prefix`. */
  drop(prefix: string): void {
    for (const key of this.#files.keys()) if (key.startsWith(prefix)) this.#drop(key);
  }

  #settle(key: string, kept: Kept, file: EncodedFile | undefined): void {
    kept.bytes = file?.bytes.length ?? 0;
    this.#bytes += kept.bytes;
    if (file === undefined) this.#drop(key);
    for (const oldest of this.#files.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#files.get(key)?.bytes ?? 0;
    this.#files.delete(key);
  }
}
