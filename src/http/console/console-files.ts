import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

import { webEncodings, webTypes } from '../../plugin/api/front-end.ts';
import { tagOf, type EncodedFile } from './encoded-file.ts';

/**
 * The files of the built console. The names are read once, and each file is read once for each encoding that a client
 * asks for, so the memory is at most the size of the folder.
 */
export class ConsoleFiles {
  readonly #folder: string;
  #names: Promise<ReadonlySet<string>> | undefined;
  readonly #loaded = new Map<string, Promise<EncodedFile>>();

  /** `folder` is the absolute path of the build's output. It may be absent. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Resolves with the file of this name, which is relative to the folder, with forward slashes. Selects the most
   * compact encoding that the client accepts. Resolves with undefined for an unknown name, and if
   * the console is not built.
   */
  async find(name: string, accepts: (encoding: string) => boolean): Promise<EncodedFile | undefined> {
    const names = await this.#listed();
    const type = webTypes.get(extname(name));
    if (type === undefined || !names.has(name)) return undefined;
    const chosen = webEncodings.find(
      ({ name: encoding, extension }) => names.has(name + extension) && accepts(encoding),
    );
    return this.#load(name, type, chosen);
  }

  async #listed(): Promise<ReadonlySet<string>> {
    this.#names ??= listFiles(this.#folder);
    const names = await this.#names;
    // The next request looks again for a console that is not built yet.
    if (names.size === 0) this.#names = undefined;
    return names;
  }

  async #load(name: string, type: string, chosen: (typeof webEncodings)[number] | undefined): Promise<EncodedFile> {
    const path = name + (chosen?.extension ?? '');
    const known = this.#loaded.get(path);
    if (known !== undefined) return known;
    const loading = readFile(join(this.#folder, path)).then((bytes) => ({
      bytes,
      type,
      encoding: chosen?.name,
      etag: tagOf(bytes),
      isHashed: name.startsWith('assets/'),
    }));
    this.#loaded.set(path, loading);
    // After a failure, the next request reads the file again.
    loading.catch(() => this.#loaded.delete(path));
    return loading;
  }
}

async function listFiles(folder: string): Promise<ReadonlySet<string>> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return new Set(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .split(sep)
            .join('/'),
        ),
    );
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Set();
    throw error;
  }
}
