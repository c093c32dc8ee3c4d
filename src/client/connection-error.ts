/**
 * No complete answer came: the server was not reached, the connection was cut, or nothing arrived in time. Whether a
 * write took place is unknown.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** `cause` in the words of the innermost error, which never contain a token: it is in no URL. */
export function connectionError(origin: string, cause: unknown): ConnectionError {
  return new ConnectionError(`no answer from ${origin}: ${wordsOf(cause)}`, { cause });
}

function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : '';
  const own = cause.message === '' ? cause.name : cause.message;
  return cause.cause instanceof Error ? wordsOf(cause.cause) : `${own}${code}`;
}
