import { watch, type FSWatcher } from 'node:fs';

import type { Clock, Timer } from '../base/clock.ts';
import { filesPollMs, filesSettleMs, foldersWatchedMax } from './life-limits.ts';
import { digestOf, lookAtFiles, type FilesLook } from './plugin-files.ts';

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
  #signature: string | undefined;
  #digest: string | undefined;
  #timer: Timer | undefined;
  #isClosed = false;
  #looking: Promise<void> = Promise.resolve();
  /** A look is under way or about to be: a hint changes nothing, so that files that never rest hold no look up. */
  #isSoon = false;

  constructor(path: string, dependencies: FolderWatchDependencies) {
    this.#path = path;
    this.#dependencies = dependencies;
  }

  /** The digest of what lies there now; with `follow` changes are told from then on. */
  async open(mode: 'once' | 'follow'): Promise<string | undefined> {
    const look = await lookAtFiles(this.#path);
    this.#signature = look?.signature;
    this.#digest = look === undefined ? undefined : await digestOf(this.#path, look);
    if (mode === 'follow') {
      this.#follow(look);
      this.#lookAfter(filesPollMs);
    }
    return this.#digest;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    await this.#looking;
  }

  #lookAfter(waitMs: number): void {
    this.#timer?.cancel();
    if (this.#isClosed) return;
    this.#isSoon = waitMs < filesPollMs;
    this.#timer = this.#dependencies.clock.after(waitMs, () => {
      this.#isSoon = true;
      // A folder that cannot be looked at now is looked at again.
      this.#looking = this.#look().catch(() => filesPollMs).then((nextMs) => { this.#lookAfter(nextMs); });
    });
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
    if (digest !== this.#digest && !this.#isClosed) {
      this.#digest = digest;
      this.#dependencies.onChange(digest);
    }
    return filesPollMs;
  }

  /** Watches each folder by itself: watching recursively would take in `node_modules`. */
  #follow(look: FilesLook | undefined): void {
    if (this.#isClosed) return;
    const wanted = new Set(look?.folders.slice(0, foldersWatchedMax) ?? [this.#path]);
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    const hint = (): void => { if (!this.#isSoon) this.#lookAfter(filesSettleMs); };
    try {
      const watcher = watch(folder, { persistent: false }, hint);
      // A folder that goes away, or a limit on watchers: the poll sees what happens.
      watcher.on('error', () => { watcher.close(); });
      watcher.on('close', () => { if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder); });
      this.#watchers.set(folder, watcher);
    } catch {
      return;
    }
  }
}
