/** Transient errors of the process or the machine, which say nothing about the file. */
const transientCodes = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

/** Returns `otherwise` for an unreadable file; rethrows a transient error. */
export function unlessTransient<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && transientCodes.has(error.code))
      throw error;
    return otherwise;
  };
}
