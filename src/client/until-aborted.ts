/**
 * Settles like `work`, or rejects with the signal's reason as soon as the signal aborts. `fetch` alone may miss the
 * abort: Node 20 references the signal of a request only weakly, so the garbage collector can free the signal.
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
  // `cancel` rejects for a response that has already failed, and thus has a closed connection.
  body?.cancel().catch(() => undefined);
}
