/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts. `fetch` alone does not do so for
 * certain: Node 20's refers weakly to the signal of a request, and loses it when garbage is collected.
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

/** Closes the connection of an answer that is not read to its end. */
export function cancelBody(body: { cancel(): Promise<void> } | null | undefined): void {
  // An answer that has failed has no connection to close.
  body?.cancel().catch(() => undefined);
}
