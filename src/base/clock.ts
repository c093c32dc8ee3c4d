/**
 * Time is a parameter. No other file reads the clock or sets a timer (a lint rule holds that), so every test can drive
 * time with a fake clock and none of them sleeps.
 */
export type Timer = { cancel(): void };

export type Clock = {
  /** Wall-clock time in milliseconds since the Unix epoch, UTC. May jump; use it for timestamps only. */
  now(): number;
  /** Milliseconds that only ever grow; use it for durations and deadlines. */
  monotonic(): number;
  /** Calls `task` once, `delayMs` from now. A pending timer does not keep the process alive. */
  after(delayMs: number, task: () => void): Timer;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, task) {
    const handle = setTimeout(task, delayMs);
    handle.unref();
    return { cancel: () => { clearTimeout(handle); } };
  },
};

/** Resolves `delayMs` from now, or at once when `signal` aborts. It never rejects: the caller looks at the signal. */
export async function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = clock.after(delayMs, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** Resolves once `work` has, or `ms` from now, or when `signal` aborts, whichever is first; rejects as `work` does until then. */
export async function within(work: Promise<unknown>, { clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal }): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, delay(clock, ms, AbortSignal.any([over.signal, signal]))]);
  } finally {
    over.abort();
  }
}
