/**
 * No complete response arrived: the server was unreachable, the connection was closed, or a time limit passed. The
 * server may or may not have applied a write.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/**
 * Creates an error with the message of the innermost cause. The message contains only the server's origin, because the
 * whole URL may contain a secret.
 */
export function connectionError(origin: string, cause: unknown): ConnectionError {
  return new ConnectionError(`no response from ${origin}: ${wordsOf(cause)}`, { cause });
}

function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : '';
  const own = cause.message === '' ? cause.name : cause.message;
  return cause.cause instanceof Error ? wordsOf(cause.cause) : `${own}${code}`;
}
