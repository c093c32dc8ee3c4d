const stackLengthMax = 8_192;

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the stack of an error; undefined without a stack, or if an error of a plugin throws when its stack is read.
 */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === 'string'
      ? thrown.stack.slice(0, stackLengthMax)
      : undefined;
  } catch {
    return undefined;
  }
}
