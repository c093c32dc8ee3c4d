import { closeSync, fdatasyncSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const pageBytes = 4_096;
const pages = 256;

/**
 * Overwrites a page of a file in `dir` and waits for the disk (`fdatasync`), `count` times. Returns the flushes per
 * second, which is the highest rate of durable writes that wait for each other.
 */
export function flushRate(dir: string, count: number): number {
  const path = join(dir, 'flushed');
  const file = openSync(path, 'w+', 0o600);
  try {
    writeSync(file, Buffer.alloc(pageBytes * pages));
    fsyncSync(file);
    const began = performance.now();
    for (let flush = 0; flush < count; flush += 1) {
      writeSync(file, Buffer.alloc(pageBytes, flush), 0, pageBytes, (flush % pages) * pageBytes);
      fdatasyncSync(file);
    }
    return (count / (performance.now() - began)) * 1_000;
  } finally {
    closeSync(file);
    rmSync(path);
  }
}
