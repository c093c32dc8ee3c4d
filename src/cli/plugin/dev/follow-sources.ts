import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Clock, Timer } from '../../../base/clock.ts';

/** The interval between two scans. A scan is fast, because a plugin has few sources. */
const scanMs = 200;
/** Folders with build output or other packages, which are not scanned. */
const ignored = new Set(['dist', 'node_modules']);

/** The files by path, each with a text that changes whenever the file is written. */
type Snapshot = ReadonlyMap<string, string>;

/**
 * Calls `onChange` with the paths of changed, new and deleted files, until `stop` is called. Hidden files and folders,
 * and packages (`.tgz`), are ignored.
 */
export function followSources(
  folders: readonly string[],
  clock: Clock,
  onChange: (paths: readonly string[]) => void,
): { stop(): void } {
  let isStopped = false;
  let timer: Timer | undefined;
  const follow = async (before: Snapshot | undefined): Promise<void> => {
    const present = await snapshotOf(folders);
    if (isStopped) return;
    const changed = before === undefined ? [] : changedPaths(before, present);
    if (changed.length > 0) onChange([...changed].sort());
    timer = clock.after(scanMs, () => void follow(present));
  };
  void follow(undefined);
  return {
    stop: () => {
      isStopped = true;
      timer?.cancel();
    },
  };
}

function changedPaths(before: Snapshot, present: Snapshot): readonly string[] {
  return [...new Set([...before.keys(), ...present.keys()])].filter((path) => before.get(path) !== present.get(path));
}

async function snapshotOf(folders: readonly string[]): Promise<Snapshot> {
  const found = new Map<string, string>();
  const walk = async (folder: string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
    for (const entry of entries) {
      if (entry.name.startsWith('.') || ignored.has(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile() && !entry.name.endsWith('.tgz')) {
        const file = await stat(path).catch(() => undefined);
        if (file !== undefined) found.set(path, `${String(file.mtimeMs)} ${String(file.size)} ${String(file.ino)}`);
      }
    }
  };
  for (const folder of folders) await walk(folder);
  return found;
}
