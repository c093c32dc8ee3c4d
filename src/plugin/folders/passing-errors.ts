/** Of the process or the machine, and not of the file: nothing is told by it of what lies there. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

/** Takes what cannot be read for `otherwise`; an error that passes is thrown on. */
export function unlessPassing<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && passing.has(error.code)) throw error;
    return otherwise;
  };
}
