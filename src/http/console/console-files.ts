import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** The encodings of a file that the build may have written, the most compact one first, with their file extensions. */
const encodings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;

/** A file in one encoding, as it is sent. */
export type EncodedFile = {
  readonly bytes: Buffer;
  /** The media type of the file. */
  readonly type: string;
  /** The value of Content-Encoding; undefined for a file that is not compressed. */
  readonly encoding: string | undefined;
  readonly etag: string;
  /** Whether the name contains a digest of the content, so that the content of this name never changes. */
  readonly isHashed: boolean;
};

/** Returns the media type for a file extension with its dot. Files with other extensions are not served. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.woff2', 'font/woff2'],
]);

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
    const type = mediaTypes.get(extensionOf(name));
    if (type === undefined || !names.has(name)) return undefined;
    const chosen = encodings.find(({ name: encoding, extension }) => names.has(name + extension) && accepts(encoding));
    return this.#load(name, type, chosen);
  }

  async #listed(): Promise<ReadonlySet<string>> {
    this.#names ??= listFiles(this.#folder);
    const names = await this.#names;
    // The next request looks again for a console that is not built yet.
    if (names.size === 0) this.#names = undefined;
    return names;
  }

  async #load(name: string, type: string, chosen: (typeof encodings)[number] | undefined): Promise<EncodedFile> {
    const path = name + (chosen?.extension ?? '');
    const known = this.#loaded.get(path);
    if (known !== undefined) return known;
    const loading = readFile(join(this.#folder, path)).then((bytes) => ({
      bytes,
      type,
      encoding: chosen?.name,
      etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
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

function extensionOf(name: string): string {
  return /\.[a-z0-9]+$/u.exec(name)?.[0] ?? '';
}
