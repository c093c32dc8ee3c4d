/** The start of a stack frame in a text. */
const frame = '\n    at ';

/**
 * Returns the fields of a log line. Replaces an `Error` with an object, because JSON would show an empty object.
 * `inSources` replaces places in compiled files of a stack with places in sources.
 */
export function loggedFields(
  fields: Readonly<Record<string, unknown>>,
  inSources: (stack: string) => string,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, loggedValue(value, inSources)]));
}

function loggedValue(value: unknown, inSources: (stack: string) => string): unknown {
  if (typeof value === 'string') return value.includes(frame) ? inSources(value) : value;
  if (!(value instanceof Error)) return value;
  // A plugin may throw an error with members that throw when they are read.
  try {
    const { name, message, stack } = value;
    return {
      type: name,
      message,
      ...(typeof stack === 'string' ? { stack: inSources(stack) } : {}),
    };
  } catch {
    return 'an error that cannot be printed';
  }
}
