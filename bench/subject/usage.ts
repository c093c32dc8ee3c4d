import { existsSync, readFileSync } from 'node:fs';

/** The resources that a process has used, over all its threads. */
export type Usage = {
  readonly cpuSeconds: number;
  /** The private memory of the process. Pages of mapped files belong to the system's cache and do not count. */
  readonly anonymousBytes: number;
};

/** The kernel's clock ticks per second: every Linux reports times to programs in this unit. */
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

/** The lowest memory in some seconds without work, after the garbage collections that the engine starts by itself. */
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

/** The highest memory while `task` runs, minus the memory before it. */
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
