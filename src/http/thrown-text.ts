/**
 * Returns the text of a plugin's error for the log, with its stack. Plugins may throw any value, and reading the value
 * may throw.
 */
export function thrownText(error: unknown): string {
  return describeThrown(error, ({ stack, message }) => (typeof stack === 'string' ? stack : message));
}

/** Returns the message of a plugin's error, at most 256 characters. */
export function thrownMessage(error: unknown): string {
  return describeThrown(error, ({ message }) => message).slice(0, 256);
}

function describeThrown(error: unknown, shown: (error: Error) => unknown): string {
  try {
    return String(error instanceof Error ? shown(error) : error);
  } catch {
    return 'a value that cannot be printed';
  }
}
