import { ClientError } from 'ledgerplane/client';

/** Returns whether the server refused a time because the log begins later. No object existed at such a time. */
export function isBeforeLog(error: unknown): boolean {
  return (
    error instanceof ClientError && error.status === 400 && error.message.includes('is before the log’s first event')
  );
}
