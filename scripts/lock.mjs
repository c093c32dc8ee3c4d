import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const beatMs = 1_000;
/**
 * The age in milliseconds above which a lock is abandoned, because its holder was killed or its machine was switched
 * off.
 */
const staleMs = 20_000;
const pollMs = 100;

/** Runs `task` while holding the lock file `path`. An abandoned lock is removed. */
export async function withLock(path, task) {
  const mine = `${hostname()} ${process.pid} ${Date.now()}`;
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, mine);
  try {
    await acquire(path, draft);
  } finally {
    rmSync(draft, { force: true });
  }
  const beat = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(path, now, now);
    } catch {
      // The lock file was removed, so the task continues without a lock. `release` does not remove another process's
      // lock.
    }
  }, beatMs);
  const release = () => {
    if (read(path) === mine) rmSync(path, { force: true });
  };
  const stop = (signal) => {
    release();
    process.kill(process.pid, signal);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await task();
  } finally {
    clearInterval(beat);
    process.off('SIGINT', stop).off('SIGTERM', stop);
    release();
  }
}

async function acquire(path, draft) {
  let isReported = false;
  for (;;) {
    try {
      linkSync(draft, path);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const held = read(path);
    if (held !== undefined && isStale(path, held)) {
      steal(path, held);
      continue;
    }
    if (!isReported) console.error('waiting for another build of this tree …');
    isReported = true;
    await sleep(pollMs);
  }
}

function isStale(path, held) {
  const [host, pid] = held.split(' ');
  if (host === hostname() && !isAlive(Number(pid))) return true;
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
  return Date.now() - mtimeMs > staleMs;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** Removes a stale lock. Renames the file first, and restores the file if it is the lock of another process. */
function steal(path, held) {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    if (read(aside) !== held) linkSync(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
