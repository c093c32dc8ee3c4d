import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { unpackArchive, type Unpacking } from './package-archive.ts';
import { sumOfFolder } from './package-sum.ts';

/**
 * The result of unpacking a package into a staging folder. The caller must adopt or discard the folder if `ok` is true.
 */
export type Staged =
  | { readonly ok: true; readonly path: string; adopt(digest: string): Promise<string>; discard(): Promise<void> }
  | { readonly ok: false; readonly problem: string };

const digestName = /^[0-9a-f]{64}$/u;
const stagingPrefix = '.unpacking-';
/**
 * The suffix of a checksum file, which is beside a package's folder and contains the checksum of the folder's contents.
 */
const sumSuffix = '.sum';

type StagedPackage = {
  readonly staging: string;
  readonly digest: string;
};

/**
 * The unpacked packages on this node, in `<root>/<digest>`. The folders are a cache: a package is unpacked again if its
 * folder does not match the stored checksum. A package is first unpacked into a staging folder, which is then renamed
 * to the digest. Thus a crash leaves no partly unpacked folder under a digest.
 */
export class PackageFolders {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Creates the root folder, and removes the staging folders and files that an earlier process left behind. */
  async open(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const left = (await readdir(this.#root)).filter((name) => name.startsWith(stagingPrefix));
    await Promise.all(left.map(async (name) => remove(join(this.#root, name))));
  }

  /**
   * Removes everything in the root folder except for staging folders, and for the packages for which `isWanted` is
   * true.
   */
  async retain(isWanted: (digest: string) => boolean): Promise<void> {
    const kept = (name: string): boolean =>
      name.startsWith(stagingPrefix) || isWanted(name.endsWith(sumSuffix) ? name.slice(0, -sumSuffix.length) : name);
    const removed = (await readdir(this.#root)).filter((name) => !kept(name));
    await Promise.all(removed.map(async (name) => remove(join(this.#root, name))));
  }

  /**
   * Returns the path of the package's folder; undefined if the folder is missing or changed, or has no checksum file.
   */
  async find(digest: string): Promise<string | undefined> {
    const path = this.#pathOf(digest);
    const sum = await readFile(`${path}${sumSuffix}`, 'utf8').catch(() => undefined);
    return sum !== undefined && sum === (await sumOfFolder(path)) ? path : undefined;
  }

  async stage(archive: Uint8Array): Promise<Staged> {
    const staging = await mkdtemp(join(this.#root, stagingPrefix));
    const discard = async (): Promise<void> => remove(staging);
    try {
      const unpacked = await unpackArchive(archive, staging);
      if (unpacked.ok)
        return {
          ok: true,
          path: unpacked.root,
          adopt: async (digest) => this.#adopt(unpacked, { staging, digest }),
          discard,
        };
      await discard();
      return unpacked;
    } catch (error) {
      await discard();
      throw error;
    }
  }

  /**
   * Renames the checksum file before the folder, because `find` ignores a checksum file without a folder after a crash.
   */
  async #adopt({ root, sum }: Extract<Unpacking, { ok: true }>, { staging, digest }: StagedPackage): Promise<string> {
    const path = this.#pathOf(digest);
    await remove(path);
    const written = `${staging}${sumSuffix}`;
    await writeFile(written, sum, { mode: 0o600 });
    await rename(written, `${path}${sumSuffix}`);
    await rename(root, path);
    await remove(staging);
    return path;
  }

  #pathOf(digest: string): string {
    if (!digestName.test(digest)) throw new RangeError(`${JSON.stringify(digest)} is not a SHA-256 digest in hex`);
    return join(this.#root, digest);
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
