/**
 * Settles like `work`, or rejects with the signal's reason as soon as it aborts. `fetch` alone may miss the abort: Node
 * 20 holds the signal of a request only weakly, and a garbage collection can free it.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener('abort', stop, { once: true });
  });
  const aborted = stopped.then(async () => {
    signal.throwIfAborted();
    return work;
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Closes the connection of a response that is not read to its end. */
export function cancelBody(body: { cancel(): Promise<void> } | null | undefined): void {
  // A failed response has no connection to close, so the error is ignored.
  body?.cancel().catch(() => undefined);
}
