/**
 * Errors that the EventStoreDB driver (6.2.1) throws where no caller can catch them. All appends of a process share one
 * table of pending replies. An error of any stream rejects and clears it, with two effects:
 * - a reply that arrives later has no entry, and a socket callback throws a TypeError;
 * - an append that is still queued rejects a promise without an owner.
 *
 * Neither means that the process is broken: the appends in flight get the outcome `unknown`, which their ids resolve.
 * Both errors, and no others, are recognized by the code that throws them. This file knows the driver by name only, so
 * it needs no import.
 */
export function isStrayAppendReply(error: unknown): boolean {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return false;
  if (error instanceof TypeError) return isThrownByReply(error.stack);
  return isRejectedByQueue(error);
}

/** With source maps enabled, stacks contain source paths. */
const replyListener = /[\\/]db-client[\\/](?:dist|src)[\\/]streams[\\/]appendToStream[\\/]batchAppend\.[jt]s:/u;

/** The frame right below the message must be the driver's listener: deeper frames may belong to any code. */
function isThrownByReply(stack: string): boolean {
  return replyListener.test(stack.split('\n').find((line) => line.startsWith('    at ')) ?? '');
}

/** A gRPC status of the call that carries all appends: its stack contains the caller. */
function isRejectedByQueue(error: Error & { readonly code?: unknown; readonly details?: unknown }): boolean {
  return typeof error.code === 'number' && typeof error.details === 'string' && replyListener.test(error.stack ?? '');
}
