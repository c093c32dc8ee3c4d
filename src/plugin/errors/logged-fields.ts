/** A frame of a stack in a text. */
const frame = '\n    at ';

/**
 * Returns the fields of a log line with errors as objects that contain the stack, because JSON would show an `Error` as
 * an empty object. `inSources` replaces the places in compiled files, in the text of a stack, by the places in the
 * sources.
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
