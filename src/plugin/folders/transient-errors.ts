/** The codes of errors that the process or the machine causes temporarily. A later attempt may read the file. */
const transientCodes = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

/** Returns an error handler that rethrows a transient error, and returns `otherwise` for any other error. */
export function unlessTransient<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && transientCodes.has(error.code))
      throw error;
    return otherwise;
  };
}
