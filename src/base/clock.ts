/**
 * A timer that `Clock.after` has set. A lint rule allows only this file of the server to read the clock or to set
 * timers. Tests can therefore pass a fake `Clock`.
 */
export type Timer = { cancel(): void };

export type Clock = {
  /** Wall-clock time in milliseconds since the Unix epoch, UTC. May jump, so use this time only for timestamps. */
  now(): number;
  /** Monotonic milliseconds, for durations and deadlines. */
  monotonic(): number;
  /** Calls `task` once, after `delayMs`, unless the timer is cancelled before. */
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

/** A clock for programs outside of the server, also in browsers. Pending timers keep the process alive. */
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

/** Resolves after `delayMs`, or at once when `signal` aborts. Never rejects, so the caller must check the signal. */
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

type Later = {
  readonly ms: number;
  readonly signal: AbortSignal;
};

/** Calls `action` after `ms` milliseconds, unless `signal` aborts before. */
export function callLater(clock: Clock, { ms, signal }: Later, action: () => void): void {
  if (signal.aborted) return;
  const cancel = (): void => {
    timer.cancel();
  };
  const timer = clock.after(ms, () => {
    signal.removeEventListener('abort', cancel);
    action();
  });
  signal.addEventListener('abort', cancel, { once: true });
}

type TimeLimit = {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
};

/** Resolves or rejects when `work` does. Resolves earlier after `ms` milliseconds, or when `signal` aborts. */
export async function within(work: Promise<unknown>, { clock, ms, signal }: TimeLimit): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, delay(clock, ms, AbortSignal.any([over.signal, signal]))]);
  } finally {
    over.abort();
  }
}
