import { ClientError } from 'ledgerplane/client';

/** Whether the server refuses a moment because the log begins later: no object existed then. */
export function isBeforeLog(error: unknown): boolean {
  return (
    error instanceof ClientError && error.status === 400 && error.message.includes('is before the log’s first event')
  );
}
