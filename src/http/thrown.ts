/** Whatever a plugin threw, as the log shows it. It is a foreign object: looking at it may throw again. */
export function thrownText(error: unknown): string {
  return looked(error, ({ stack, message }) => (typeof stack === 'string' ? stack : message));
}

/** The same in a few words. */
export function thrownMessage(error: unknown): string {
  return looked(error, ({ message }) => message).slice(0, 256);
}

function looked(error: unknown, shown: (error: Error) => unknown): string {
  try {
    return String(error instanceof Error ? shown(error) : error);
  } catch {
    return 'a value that cannot be printed';
  }
}
