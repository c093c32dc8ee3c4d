import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { unpackArchive, type Unpacking } from './package-archive.ts';
import { sumOfFolder } from './package-sum.ts';

/** A package unpacked where nothing else looks: either adopted or discarded. */
export type Staged =
  | { readonly ok: true; readonly path: string; adopt(digest: string): Promise<string>; discard(): Promise<void> }
  | { readonly ok: false; readonly problem: string };

const digestName = /^[0-9a-f]{64}$/u;
const stagingPrefix = '.unpacking-';
/** Beside a package's folder: what was in it when it was unpacked. */
const sumSuffix = '.sum';

/**
 * Unpacked packages on this node: `<root>/<digest>`. Only a cache, so whatever is doubtful is thrown away. A folder gets its
 * name when it is whole; what a crash leaves behind has none.
 */
export class PackageFolders {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Removes what an earlier run did not finish. */
  async open(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const left = (await readdir(this.#root)).filter((name) => name.startsWith(stagingPrefix));
    await Promise.all(left.map(async (name) => remove(join(this.#root, name))));
  }

  /** Removes every package but those that are wanted, and whatever else lies there. */
  async retain(isWanted: (digest: string) => boolean): Promise<void> {
    const kept = (name: string): boolean => name.startsWith(stagingPrefix) || isWanted(name.endsWith(sumSuffix) ? name.slice(0, -sumSuffix.length) : name);
    await Promise.all((await readdir(this.#root)).filter((name) => !kept(name)).map(async (name) => remove(join(this.#root, name))));
  }

  /** The package's folder where it is there as it was unpacked; undefined where it must be unpacked anew. */
  async find(digest: string): Promise<string | undefined> {
    const path = this.#pathOf(digest);
    const sum = await readFile(`${path}${sumSuffix}`, 'utf8').catch(() => undefined);
    return sum !== undefined && sum === await sumOfFolder(path) ? path : undefined;
  }

  async stage(archive: Uint8Array): Promise<Staged> {
    const staging = await mkdtemp(join(this.#root, stagingPrefix));
    const discard = async (): Promise<void> => remove(staging);
    try {
      const unpacked = await unpackArchive(archive, staging);
      if (unpacked.ok) return { ok: true, path: unpacked.root, adopt: async (digest) => this.#adopt(unpacked, { staging, digest }), discard };
      await discard();
      return unpacked;
    } catch (error) {
      await discard();
      throw error;
    }
  }

  /** The sum first: without it a folder does not count, and one that is there without its folder counts for nothing. */
  async #adopt({ root, sum }: Extract<Unpacking, { ok: true }>, { staging, digest }: { readonly staging: string; readonly digest: string }): Promise<string> {
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
    if (!digestName.test(digest)) throw new RangeError(`${JSON.stringify(digest)} is not a digest`);
    return join(this.#root, digest);
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
