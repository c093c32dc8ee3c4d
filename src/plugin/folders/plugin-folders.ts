import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';

import type { Clock } from '../../base/clock.ts';
import { FolderWatch, watchFolder } from './folder-watch.ts';
import { nameFolders, type FolderNames, type NamedFolder } from './folder-names.ts';
import { filesPollMs } from '../lifecycle/life-limits.ts';
import { describe } from '../load/load-module.ts';
import { decodeManifest } from '../load/manifest.ts';
import { foldersIn, readManifest, type PluginFolder } from './plugin-folder.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';
import type { PluginLogger } from '../api/plugin.ts';
import { Poll } from './poll.ts';

export type PluginFoldersDependencies = {
  /** The folders that contain plugin folders. A relative path is relative to the process's working directory. */
  readonly roots: { readonly bundled: readonly string[]; readonly extra: readonly string[] };
  readonly clock: Clock;
  readonly domain: string;
  readonly log: PluginLogger;
  /** Called when the files of the plugin `name` were added, changed or deleted. */
  readonly onChange: (name: string) => void;
};

/**
 * The folder of a plugin. `digest` is the digest of the folder's files; undefined without a plugin.yaml. `refused` is
 * set if another folder has the name that this folder declares.
 */
export type FoundFolder = {
  readonly folder: PluginFolder;
  readonly digest: string | undefined;
  readonly refused: Failure | undefined;
};

/** A folder within a folder of plugins. */
type Entry = {
  readonly folder: PluginFolder;
  readonly watch: FolderWatch;
  digest: string | undefined;
  /** The plugin name in the last readable plugin.yaml. Without a readable plugin.yaml, the folder's name. */
  declared: string;
  /** Whether the folder has ever contained a plugin. A folder of plugins may also contain unrelated folders. */
  counts: boolean;
  /** Whether the folder is ignored because its plugin was uninstalled. */
  isOut: boolean;
};

/** A folder with a plugin name, and the digest that was last reported. */
type Named = NamedFolder<Entry> & { readonly digest: string | undefined };

/**
 * The plugin folders by plugin name. Folders of bundled plugins are scanned only at the start, because they change only
 * with the platform. The folder of an uninstalled plugin keeps the plugin name, but is ignored. The folder is no longer
 * ignored when its files change, or when `readopt` is called.
 */
export class PluginFolders {
  readonly #dependencies: PluginFoldersDependencies;
  /** The folders by path, in the order of discovery. */
  readonly #entries = new Map<string, Entry>();
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #unreadable = new Set<string>();
  readonly #poll: Poll;
  #names: ReadonlyMap<string, Named> = new Map();
  #unnamed: FolderNames<Entry>['unnamed'] = [];
  /** Resolves when the last queued change is done. Changes run one at a time. */
  #work: Promise<void> = Promise.resolve();

  constructor(dependencies: PluginFoldersDependencies) {
    this.#dependencies = dependencies;
    this.#poll = new Poll(dependencies.clock, async () => {
      await this.scan();
      this.#watchRoots();
      return filesPollMs;
    });
  }

  /**
   * Finds all folders, and starts to watch the files of plugins that are not bundled. New and deleted folders are found
   * only after `follow`.
   */
  async open(): Promise<void> {
    const { bundled, extra } = this.#dependencies.roots;
    const roots = [
      ...bundled.map((root) => ({ root, isBundled: true })),
      ...extra.map((root) => ({ root, isBundled: false })),
    ];
    const found = await Promise.all(
      roots.map(async ({ root, isBundled }) =>
        ((await this.#read(root, isBundled)) ?? []).map((folder) => ({ key: join(root, folder.name), folder })),
      ),
    );
    const entries = found.flat().map(({ key, folder }) => this.#enter(key, folder));
    await Promise.all(
      entries.map(async (entry) => {
        entry.digest = await entry.watch.open(entry.folder.bundled ? 'once' : 'follow');
        entry.declared = await this.#declaredName(entry);
        entry.counts = entry.digest !== undefined;
        if (!entry.counts)
          this.#dependencies.log.warn('ignoring a folder without plugin.yaml in a folder of plugins', {
            folder: entry.folder.path,
          });
      }),
    );
    this.#nameAll();
  }

  follow(): void {
    if (this.#dependencies.roots.extra.length === 0) return;
    this.#watchRoots();
    this.#poll.after(filesPollMs);
  }

  async close(): Promise<void> {
    for (const watcher of this.#watchers.values()) watcher.close();
    await this.#poll.close();
    await this.#work;
    await Promise.all([...this.#entries.values()].map(async ({ watch }) => watch.close()));
  }

  /** Returns the names of plugins that have a folder and are not uninstalled. */
  names(): readonly string[] {
    return [...this.#names].filter(([, { of }]) => !of.isOut).map(([name]) => name);
  }

  /** Returns the folder of a plugin; undefined if the plugin has no folder or was uninstalled. */
  get(name: string): FoundFolder | undefined {
    const named = this.#names.get(name);
    return named === undefined || named.of.isOut
      ? undefined
      : { folder: named.of.folder, digest: named.digest, refused: named.refused };
  }

  /** Returns whether the plugin has a folder, even if the plugin was uninstalled. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Ignores the folder of a plugin that was uninstalled. */
  leaveOut(name: string): void {
    const named = this.#names.get(name);
    if (named !== undefined) named.of.isOut = true;
  }

  /** Ends the effect of `leaveOut`. */
  readopt(name: string): void {
    const named = this.#names.get(name);
    if (named !== undefined) named.of.isOut = false;
  }

  /** Scans for new and deleted folders. */
  async scan(): Promise<void> {
    return this.#inTurn(async () => {
      for (const root of this.#dependencies.roots.extra) {
        const found = await this.#read(root, false);
        // The contents of an unreadable folder are unknown, so no plugin is added or removed.
        if (found !== undefined) this.#compare(root, found);
      }
      this.#notify();
    });
  }

  /**
   * Returns the folders in `root`, an empty list for a missing `root`, or undefined for an unreadable `root`. Of
   * consecutive errors, only the first error is logged.
   */
  async #read(root: string, isBundled: boolean): Promise<readonly PluginFolder[] | undefined> {
    try {
      const found = await foldersIn(root, isBundled);
      this.#unreadable.delete(root);
      return found;
    } catch (error) {
      if (!this.#unreadable.has(root))
        this.#dependencies.log.error(`cannot read ${isBundled ? 'the bundled plugins' : 'a folder of PLUGINS_DIRS'}`, {
          root,
          error: String(error),
        });
      this.#unreadable.add(root);
      return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? [] : undefined;
    }
  }

  #compare(root: string, found: readonly PluginFolder[]): void {
    const present = new Map(found.map((folder) => [join(root, folder.name), folder]));
    for (const [key, entry] of this.#entries) {
      if (entry.folder.bundled || key !== join(root, entry.folder.name) || present.get(key)?.path === entry.folder.path)
        continue;
      this.#entries.delete(key);
      entry.watch.close().catch(() => undefined);
    }
    for (const [key, folder] of present)
      if (!this.#entries.has(key) && !this.#poll.isClosed) this.#enter(key, folder).watch.expect();
  }

  #enter(key: string, folder: PluginFolder): Entry {
    const watch = new FolderWatch(folder.path, {
      clock: this.#dependencies.clock,
      onChange: (digest) => {
        void this.#change(entry, digest);
      },
    });
    const entry: Entry = {
      folder,
      watch,
      digest: undefined,
      declared: folder.name,
      counts: false,
      isOut: false,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  async #change(entry: Entry, digest: string | undefined): Promise<void> {
    return this.#inTurn(async () => {
      entry.declared = await this.#declaredName(entry);
      entry.digest = digest;
      entry.counts ||= digest !== undefined;
      // A change of the files ends the effect of `leaveOut`. The deletion of plugin.yaml does not.
      if (digest !== undefined) entry.isOut = false;
      this.#notify();
    });
  }

  /**
   * Returns the declared name. With an unreadable plugin.yaml, returns the previous name, because the file may be
   * half-written.
   */
  async #declaredName({ folder, declared }: Entry): Promise<string> {
    const file = await readManifest(folder);
    const decoded = file.ok ? decodeManifest(file.text, this.#dependencies.domain) : undefined;
    return (decoded?.ok === true ? decoded.manifest.name : decoded?.name) ?? declared;
  }

  #notify(): void {
    const before = this.#names;
    this.#nameAll();
    for (const name of new Set([...before.keys(), ...this.#names.keys()])) {
      if (!isSame(before.get(name), this.#names.get(name))) this.#dependencies.onChange(name);
    }
  }

  #nameAll(): void {
    const { names, unnamed } = nameFolders([...this.#entries.values()].filter(({ counts }) => counts));
    const before = this.#unnamed;
    this.#names = new Map([...names].map(([name, named]) => [name, { ...named, digest: named.of.digest }]));
    this.#unnamed = unnamed;
    for (const {
      of: { folder, declared },
      twin,
    } of unnamed.filter(({ of }) => !before.some((known) => known.of === of))) {
      this.#dependencies.log.error('ignoring a plugin folder: its plugin name is invalid or used by another folder', {
        folder: folder.path,
        name: declared,
        ...(twin === undefined ? {} : { twin }),
      });
    }
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#dependencies.log.error('could not scan the plugin folders; retrying', { error: describe(error) });
    });
    return this.#work;
  }

  #watchRoots(): void {
    for (const root of this.#dependencies.roots.extra) {
      if (this.#watchers.has(root) || this.#poll.isClosed) continue;
      const watcher = watchFolder(root, () => {
        this.#poll.hint();
      });
      if (watcher === undefined) continue;
      watcher.on('close', () => {
        if (this.#watchers.get(root) === watcher) this.#watchers.delete(root);
      });
      this.#watchers.set(root, watcher);
    }
  }
}

function isSame(one: Named | undefined, other: Named | undefined): boolean {
  return one?.of === other?.of && one?.digest === other?.digest && one?.refused?.message === other?.refused?.message;
}
