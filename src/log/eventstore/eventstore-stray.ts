/**
 * Recognizes errors that the EventStoreDB driver (6.2.1) throws where no caller can catch them. All appends of a
 * process share one table of pending replies. An error of any stream clears the table. Afterwards, a late reply throws
 * a TypeError, or a queued append rejects a promise that no caller awaits.
 *
 * The process can continue, because the appends in flight return `unknown`, and a retry with the same ids determines
 * their outcomes.
 */
export function isStrayAppendReply(error: unknown): boolean {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return false;
  if (error instanceof TypeError) return isThrownByReply(error.stack);
  return isRejectedByQueue(error);
}

/** Matches the driver's file in a stack. With source maps enabled, stacks contain the paths of source files. */
const replyListener = /[\\/]db-client[\\/](?:dist|src)[\\/]streams[\\/]appendToStream[\\/]batchAppend\.[jt]s:/u;

/** Returns whether the first frame of a stack is the driver's listener. */
function isThrownByReply(stack: string): boolean {
  return replyListener.test(stack.split('\n').find((line) => line.startsWith('    at ')) ?? '');
}

type DriverError = {
  readonly code?: unknown;
  readonly details?: unknown;
};

/** Returns whether an error is the gRPC status of an append. */
function isRejectedByQueue(error: Error & DriverError): boolean {
  return typeof error.code === 'number' && typeof error.details === 'string' && replyListener.test(error.stack ?? '');
}
