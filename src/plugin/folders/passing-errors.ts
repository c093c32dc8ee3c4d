/** Transient errors of the process or the machine, which say nothing about the file. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

/** Returns `otherwise` for an unreadable file; rethrows a transient error. */
export function unlessPassing<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && passing.has(error.code))
      throw error;
    return otherwise;
  };
}
