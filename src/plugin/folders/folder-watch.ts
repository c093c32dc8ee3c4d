import { watch, type FSWatcher } from 'node:fs';

import type { Clock } from '../../base/clock.ts';
import { filesPollMs, filesSettleMs, foldersWatchedMax } from '../lifecycle/life-limits.ts';
import { digestOf, scanFiles, type FilesScan } from './plugin-files.ts';
import { Poll } from './poll.ts';

export type FolderWatchDependencies = {
  readonly clock: Clock;
  /** Called when the plugin's files changed. `digest` is undefined if the files were deleted. */
  readonly onChange: (digest: string | undefined) => void;
};

/**
 * Watches the files of one plugin folder. The folder is polled. A notification of the file system only causes an
 * earlier scan. After a change, contents are compared only when two consecutive scans are equal.
 */
export class FolderWatch {
  readonly #path: string;
  readonly #dependencies: FolderWatchDependencies;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #poll: Poll;
  #scan: FilesScan | undefined;
  #digest: string | undefined;

  constructor(path: string, dependencies: FolderWatchDependencies) {
    this.#path = path;
    this.#dependencies = dependencies;
    this.#poll = new Poll(dependencies.clock, async () => this.#check());
  }

  /**
   * Returns the digest of the present files; undefined without a plugin.yaml. With `follow`, later changes are
   * reported.
   */
  async open(mode: 'once' | 'follow'): Promise<string | undefined> {
    const scan = await scanFiles(this.#path);
    this.#scan = scan;
    this.#digest = scan === undefined ? undefined : await digestOf(this.#path, scan);
    if (mode === 'follow') {
      this.#follow(scan);
      this.#poll.after(filesPollMs);
    }
    return this.#digest;
  }

  /**
   * Starts to watch a new folder. Reports the folder when the folder contains a plugin and its files no longer change.
   */
  expect(): void {
    this.#follow(undefined);
    this.#poll.after(filesSettleMs);
  }

  async close(): Promise<void> {
    const closing = this.#poll.close();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    await closing;
  }

  /** Scans the folder. Returns the time until the next scan, in milliseconds. */
  async #check(): Promise<number> {
    const before = this.#scan;
    const scan = await scanFiles(this.#path, before);
    this.#scan = scan;
    if (scan?.signature !== before?.signature) {
      this.#follow(scan);
      return filesSettleMs;
    }
    const digest = scan === undefined ? undefined : await digestOf(this.#path, scan);
    if (digest !== this.#digest && !this.#poll.isClosed) {
      this.#digest = digest;
      this.#dependencies.onChange(digest);
    }
    return filesPollMs;
  }

  /** Watches each folder individually, because a recursive watch would include `node_modules`. */
  #follow(scan: FilesScan | undefined): void {
    if (this.#poll.isClosed) return;
    const wanted = new Set(scan?.folders.slice(0, foldersWatchedMax) ?? [this.#path]);
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    const watcher = watchFolder(folder, () => {
      this.#poll.hint();
    });
    if (watcher === undefined) return;
    watcher.on('close', () => {
      if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder);
    });
    this.#watchers.set(folder, watcher);
  }
}

/**
 * Returns a watcher of the folder. Returns undefined if the folder cannot be watched, for example because of the
 * system's limit of watchers. Polling then finds the changes.
 */
export function watchFolder(folder: string, hint: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, hint);
    watcher.on('error', () => {
      watcher.close();
    });
    return watcher;
  } catch {
    return undefined;
  }
}
