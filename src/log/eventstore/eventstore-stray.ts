/**
 * Errors that the EventStoreDB driver (6.2.1) throws where nobody can catch them. All appends of a process share one table
 * of who waits for which reply. Any stream's error rejects and clears it, so that
 * - a reply that comes all the same finds nobody waiting, and a TypeError is thrown out of a socket's callback;
 * - an append that still queued to be written rejects a promise that nobody holds.
 *
 * Neither says that the process is broken: what was in flight is answered `unknown` and settled by its ids. Both are
 * recognised by what threw them, and nothing else passes. This file knows the driver by name only, so asking costs no import.
 */
export function isStrayAppendReply(error: unknown): boolean {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return false;
  if (error instanceof TypeError) return isThrownByReply(error.stack);
  return isRejectedByQueue(error);
}

/** Where source maps are on, a stack names the sources. */
const replyListener = /[\\/]db-client[\\/](?:dist|src)[\\/]streams[\\/]appendToStream[\\/]batchAppend\.[jt]s:/u;

/** The frame right below the message must be the driver's own listener: deeper ones could be anybody's. */
function isThrownByReply(stack: string): boolean {
  return replyListener.test(stack.split('\n').find((line) => line.startsWith('    at ')) ?? '');
}

/** A gRPC status, of the call that carries all appends: its stack names who made the call. */
function isRejectedByQueue(error: Error & { readonly code?: unknown; readonly details?: unknown }): boolean {
  return typeof error.code === 'number' && typeof error.details === 'string' && replyListener.test(error.stack ?? '');
}
