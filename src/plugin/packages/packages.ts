import { PackageFolders, type Staged } from './package-folders.ts';
import { PackageLog, refOf, type PackageLogDependencies } from './package-log.ts';
import { PackageUnreadableError, type PackageRef, type PackageStore } from './package-store.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';

/** Stores packages in the log, and unpacks packages on this node when they are needed. */
export class Packages implements PackageStore {
  readonly #log: PackageLog;
  readonly #folders: PackageFolders;
  /**
   * The folders of the packages that this process has used, by digest. `retain` does not remove these folders. A
   * package that cannot be unpacked is dropped from the map, so that the next call retries.
   */
  readonly #unpacked = new Map<string, Promise<PluginFolder>>();
  /** Resolves when the current removal of folders has ended. No package folder is read or created during a removal. */
  #removal: Promise<void> = Promise.resolve();

  /** `root` is the folder of the unpacked packages, and must not be used for any other purpose. */
  constructor(root: string, dependencies: PackageLogDependencies) {
    this.#log = new PackageLog(dependencies);
    this.#folders = new PackageFolders(root);
  }

  /** Prepares the root folder. Call `open` before any other method. */
  async open(): Promise<void> {
    await this.#folders.open();
  }

  /**
   * Removes the folders of the packages that no plugin references and that this process has not used. `named` contains
   * the digests of the referenced packages. All packages remain in the log.
   */
  async retain(named: Iterable<string>): Promise<void> {
    const kept = new Set(named);
    const removal = this.#removal.then(async () =>
      this.#folders.retain((digest) => kept.has(digest) || this.#unpacked.has(digest)),
    );
    // A failed removal must not fail the operations that wait for its end.
    this.#removal = removal.catch(() => undefined);
    await removal;
  }

  async stage(archive: Uint8Array): Promise<Staged> {
    return this.#folders.stage(archive);
  }

  async keep(archive: Uint8Array): Promise<PackageRef> {
    const ref = refOf(archive);
    await this.#log.write(archive, ref);
    return ref;
  }

  /**
   * Uses the staged folder as the package's folder, so that the package is not unpacked again. Discards the staged
   * folder if this process already has a folder of the package.
   */
  async adopt(staged: Extract<Staged, { ok: true }>, { digest }: PackageRef): Promise<void> {
    if (this.#unpacked.has(digest)) {
      await staged.discard();
      return;
    }
    await this.#share(digest, async () => staged.adopt(digest));
  }

  async folderOf(ref: PackageRef): Promise<PluginFolder> {
    return (
      this.#unpacked.get(ref.digest) ??
      this.#share(ref.digest, async () => (await this.#folders.find(ref.digest)) ?? this.#unpack(ref))
    );
  }

  async #share(digest: string, unpack: () => Promise<string>): Promise<PluginFolder> {
    const folder = this.#removal.then(unpack).then((path) => ({ path, name: digest, bundled: false }));
    this.#unpacked.set(digest, folder);
    folder.catch(() => {
      this.#unpacked.delete(digest);
    });
    return folder;
  }

  async #unpack(ref: PackageRef): Promise<string> {
    const staged = await this.#folders.stage(await this.#log.read(ref));
    // An install unpacked the same bytes without a problem, so this version of the server has lower limits.
    if (!staged.ok) throw new PackageUnreadableError(`the package ${ref.digest} cannot be unpacked: ${staged.problem}`);
    return staged.adopt(ref.digest);
  }
}
