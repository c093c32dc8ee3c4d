/**
 * A timer that `Clock.after` has set. No other file of the server reads the clock or sets a timer (a lint rule enforces
 * this). Other code receives a `Clock`, so tests can pass a fake one.
 */
export type Timer = { cancel(): void };

export type Clock = {
  /** Wall-clock time in milliseconds since the Unix epoch, UTC. May jump; use it for timestamps only. */
  now(): number;
  /** Monotonic milliseconds; use it for durations and deadlines. */
  monotonic(): number;
  /** Calls `task` once, `delayMs` from now, unless the timer is cancelled before. */
  after(delayMs: number, task: () => void): Timer;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, task) {
    const handle = setTimeout(task, delayMs);
    handle.unref();
    return {
      cancel: () => {
        clearTimeout(handle);
      },
    };
  },
};

/**
 * A clock for programs outside of the server. Pending timers keep the process alive. The clock also runs in browsers.
 */
export const clientClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, task) {
    const handle = setTimeout(task, delayMs);
    return {
      cancel: () => {
        clearTimeout(handle);
      },
    };
  },
};

/** Resolves `delayMs` from now, or at once when `signal` aborts. Never rejects, so the caller must check the signal. */
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

type TimeLimit = {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
};

/** Resolves or rejects when `work` does. Resolves earlier if `ms` milliseconds pass, or if `signal` aborts. */
export async function within(work: Promise<unknown>, { clock, ms, signal }: TimeLimit): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, delay(clock, ms, AbortSignal.any([over.signal, signal]))]);
  } finally {
    over.abort();
  }
}
