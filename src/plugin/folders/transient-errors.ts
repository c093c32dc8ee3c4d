/** The codes of transient errors of the process or the machine, which do not mean that the file is unreadable. */
const transientCodes = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

/** Returns an error handler that returns `otherwise` for an unreadable file and rethrows a transient error. */
export function unlessTransient<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && transientCodes.has(error.code))
      throw error;
    return otherwise;
  };
}
