import { PackageFolders, type Staged } from './package-folders.ts';
import { PackageLog, refOf, type PackageLogDependencies } from './package-log.ts';
import { PackageUnreadableError, type PackageRef, type PackageStore } from './package-store.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';

/** Packages: stored in the log, and unpacked on this node where they are needed. */
export class Packages implements PackageStore {
  readonly #log: PackageLog;
  readonly #folders: PackageFolders;
  /**
   * By digest: the packages that this process uses; `retain` never removes them. A failed one is dropped, so that the
   * next call tries again.
   */
  readonly #unpacked = new Map<string, Promise<PluginFolder>>();
  /** While folders are being removed, none is read or created. */
  #removal: Promise<void> = Promise.resolve();

  /** `root` must not be used by anything else. */
  constructor(root: string, dependencies: PackageLogDependencies) {
    this.#log = new PackageLog(dependencies);
    this.#folders = new PackageFolders(root);
  }

  /** Call it before any other method. */
  async open(): Promise<void> {
    await this.#folders.open();
  }

  /** Removes the folders of packages that no plugin names; they stay in the log. */
  async retain(named: Iterable<string>): Promise<void> {
    const kept = new Set(named);
    this.#removal = this.#removal.then(async () =>
      this.#folders.retain((digest) => kept.has(digest) || this.#unpacked.has(digest)),
    );
    await this.#removal;
  }

  async stage(archive: Uint8Array): Promise<Staged> {
    return this.#folders.stage(archive);
  }

  async keep(archive: Uint8Array): Promise<PackageRef> {
    const ref = refOf(archive);
    await this.#log.write(archive, ref);
    return ref;
  }

  /** Turns the staged folder into the package's folder, so that it need not be unpacked again. */
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
    // Its install accepted the package, so the limits were lowered since, or the disk is damaged.
    if (!staged.ok) throw new PackageUnreadableError(`the package ${ref.digest} cannot be unpacked: ${staged.problem}`);
    return staged.adopt(ref.digest);
  }
}
