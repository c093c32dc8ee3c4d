import { existsSync, readFileSync } from 'node:fs';

/** The resources that all threads of a process have used. */
export type Usage = {
  readonly cpuSeconds: number;
  /** The private memory of the process, without pages of mapped files, which belong to the cache of the system. */
  readonly anonymousBytes: number;
};

/** The clock ticks of the kernel per second. Linux reports times to programs in this unit on every machine. */
const ticksPerSecond = 100;

export const canReadUsage = existsSync('/proc/self/status');

export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid.toString()}/stat`, 'utf8');
  // The name is in parentheses and may contain any characters; utime and stime are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const anonymous = /^RssAnon:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid.toString()}/status`, 'utf8'))?.[1];
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    anonymousBytes: Number(anonymous) * 1_024,
  };
}

/** A process is idle if its use of a core stays below this share for `idleSeconds`. */
const idleShare = 0.05;
const idleSeconds = 2;

/** Waits until a server has done its work after the start. Returns at once where there is no `/proc`. */
export async function untilIdle(pid: number): Promise<void> {
  for (let before = NaN; canReadUsage;) {
    const { cpuSeconds } = usageOf(pid);
    if (cpuSeconds - before < idleShare * idleSeconds) return;
    before = cpuSeconds;
    await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1_000));
  }
}

/** The lowest memory within some seconds without work, in which the engine may run its garbage collections. */
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

/** Runs `task`. Returns the highest memory during the task, minus the memory before. */
export async function memoryGrowth<T>(
  pid: number,
  task: () => Promise<T>,
): Promise<{ readonly result: T; readonly bytes: number }> {
  const before = await settledMemory(pid, 2);
  let result: T | undefined;
  const highest = await highestMemory(pid, async () => {
    result = await task();
  });
  return { result: result as T, bytes: highest - before };
}

/** Runs `task`. Returns the highest memory during the task. */
export async function highestMemory(pid: number, task: () => Promise<void>): Promise<number> {
  let most = usageOf(pid).anonymousBytes;
  const sampler = setInterval(() => {
    most = Math.max(most, usageOf(pid).anonymousBytes);
  }, 5);
  try {
    await task();
    return most;
  } finally {
    clearInterval(sampler);
  }
}
