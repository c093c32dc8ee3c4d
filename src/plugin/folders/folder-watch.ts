import { watch, type FSWatcher } from 'node:fs';

import type { Clock } from '../../base/clock.ts';
import { filesPollMs, filesSettleMs, foldersWatchedMax } from '../lifecycle/life-limits.ts';
import { digestOf, lookAtFiles, type FilesLook } from './plugin-files.ts';
import { Poll } from './poll.ts';

export type FolderWatchDependencies = {
  readonly clock: Clock;
  /** The plugin's files are not what they were; undefined when they are gone. */
  readonly onChange: (digest: string | undefined) => void;
};

/**
 * Follows the files of one plugin's folder. What the file system tells is only a hint to look sooner than the next poll: a
 * look that differs is looked at again until two in a row are the same, and then the content decides.
 */
export class FolderWatch {
  readonly #path: string;
  readonly #dependencies: FolderWatchDependencies;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #poll: Poll;
  #signature: string | undefined;
  #digest: string | undefined;

  constructor(path: string, dependencies: FolderWatchDependencies) {
    this.#path = path;
    this.#dependencies = dependencies;
    this.#poll = new Poll(dependencies.clock, async () => this.#look());
  }

  /** The digest of what lies there now; with `follow` changes are told from then on. */
  async open(mode: 'once' | 'follow'): Promise<string | undefined> {
    const look = await lookAtFiles(this.#path);
    this.#signature = look?.signature;
    this.#digest = look === undefined ? undefined : await digestOf(this.#path, look);
    if (mode === 'follow') {
      this.#follow(look);
      this.#poll.after(filesPollMs);
    }
    return this.#digest;
  }

  /** Of a folder that somebody may be writing just now: it is told once there is a plugin in it and its files rest. */
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

  /** How long until the next look. */
  async #look(): Promise<number> {
    const look = await lookAtFiles(this.#path);
    if (look?.signature !== this.#signature) {
      this.#signature = look?.signature;
      this.#follow(look);
      return filesSettleMs;
    }
    const digest = look === undefined ? undefined : await digestOf(this.#path, look);
    if (digest !== this.#digest && !this.#poll.isClosed) {
      this.#digest = digest;
      this.#dependencies.onChange(digest);
    }
    return filesPollMs;
  }

  /** Watches each folder by itself: watching recursively would take in `node_modules`. */
  #follow(look: FilesLook | undefined): void {
    if (this.#poll.isClosed) return;
    const wanted = new Set(look?.folders.slice(0, foldersWatchedMax) ?? [this.#path]);
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    const watcher = watchFolder(folder, () => { this.#poll.hint(); });
    if (watcher === undefined) return;
    watcher.on('close', () => { if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder); });
    this.#watchers.set(folder, watcher);
  }
}

/** undefined: it cannot be watched, as where it is gone or there is a limit on watchers. A poll sees what happens. */
export function watchFolder(folder: string, hint: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, hint);
    watcher.on('error', () => { watcher.close(); });
    return watcher;
  } catch {
    return undefined;
  }
}
