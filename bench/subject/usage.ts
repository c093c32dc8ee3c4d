import { existsSync, readFileSync } from 'node:fs';

/** What a process has used, all its threads together. */
export type Usage = {
  readonly cpuSeconds: number;
  /** Memory that belongs to the process alone. Pages of mapped files are the system's cache and do not count. */
  readonly anonymousBytes: number;
};

/** The kernel's clock ticks a second, as every Linux reports them to programs. */
const ticksPerSecond = 100;

export const canReadUsage = existsSync('/proc/self/status');

export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid.toString()}/stat`, 'utf8');
  // The name, in parentheses, may hold anything; utime and stime are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const anonymous = /^RssAnon:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid.toString()}/status`, 'utf8'))?.[1];
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    anonymousBytes: Number(anonymous) * 1_024,
  };
}

/** The least memory held in a while without work: the rest after garbage collection, as far as it runs by itself. */
export async function settledMemory(pid: number, seconds = 4): Promise<number> {
  let least = Infinity;
  for (let sample = 0; sample < seconds * 4; sample += 1) {
    least = Math.min(least, usageOf(pid).anonymousBytes);
    await new Promise((resolve) => {
      setTimeout(resolve, 250);
    });
  }
  return least;
}

/** The most memory held while `task` runs, above the memory held before. */
export async function memoryGrowth<T>(
  pid: number,
  task: () => Promise<T>,
): Promise<{ readonly result: T; readonly bytes: number }> {
  const before = await settledMemory(pid, 2);
  let most = before;
  const sampler = setInterval(() => {
    most = Math.max(most, usageOf(pid).anonymousBytes);
  }, 5);
  try {
    const result = await task();
    return { result, bytes: most - before };
  } finally {
    clearInterval(sampler);
  }
}
