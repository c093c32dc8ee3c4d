import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { packageWritesBytesMax, packageWritesMax } from './package-limits.ts';
import { contentOf, folderContent, type Contents } from './package-sum.ts';
import type { Unpacked } from './package-tar.ts';

/**
 * Writes the entries of an archive into an existing, empty folder. Several files are written concurrently, because
 * writing a small file is mostly waiting.
 */
export class PackageWriter {
  readonly #folder: string;
  readonly #contents = new Map<string, string>();
  readonly #writes = new Set<Promise<void>>();
  #waitingBytes = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The checksums of the files that were added, and `folderContent` for the folders that were created, by path. */
  get contents(): Contents {
    return this.#contents;
  }

  /** Starts to write an entry. Resolves when the limits allow another entry. Rejects if a write has failed. */
  async take({ names, bytes }: Unpacked): Promise<void> {
    await this.#makeFolder(bytes === undefined ? names : names.slice(0, -1));
    if (bytes === undefined) return;
    this.#contents.set(names.join('/'), contentOf(bytes));
    this.#waitingBytes += bytes.length;
    const write = this.#write(join(this.#folder, ...names), bytes);
    this.#writes.add(write);
    void write.then(() => {
      this.#writes.delete(write);
      this.#waitingBytes -= bytes.length;
    });
    while (this.#writes.size >= packageWritesMax || this.#waitingBytes > packageWritesBytesMax)
      await Promise.race(this.#writes);
    this.#throwFailure();
  }

  /** Resolves when all writes have ended, whether they succeeded or failed. */
  async close(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async end(): Promise<void> {
    await this.close();
    this.#throwFailure();
  }

  async #makeFolder(names: readonly string[]): Promise<void> {
    if (names.length === 0 || this.#contents.has(names.join('/'))) return;
    await mkdir(join(this.#folder, ...names), { recursive: true, mode: 0o700 });
    for (let depth = 1; depth <= names.length; depth += 1)
      this.#contents.set(names.slice(0, depth).join('/'), folderContent);
  }

  /**
   * Writes a file. Never rejects: `take` and `end` throw the first error of a write. The flag `wx` fails for an
   * existing path, so that no symbolic link is followed and no file is overwritten.
   */
  async #write(path: string, bytes: Uint8Array): Promise<void> {
    try {
      await writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
