import { ErrorType } from '@eventstore/db-client';

import { logReasonLengthMax } from './eventstore-limits.ts';
import { LogRefusedError } from '../log.ts';

/**
 * What the driver's errors mean. They come as its own classes, as bare gRPC statuses while a server starts, and as plain
 * errors of its discovery: so they are told apart by their members and never by their class.
 */
export type Fault =
  /** The stream's last revision is not the expected one; `actual` undefined: there is no such stream. */
  | { readonly kind: 'wrong-version'; readonly actual: number | undefined }
  | { readonly kind: 'no-stream' }
  /** Deleted for good by somebody: it will never take an event again. */
  | { readonly kind: 'tombstone' }
  /** The server takes less in one append than we send. */
  | { readonly kind: 'too-large' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Another member of the cluster leads now: the driver turns to it by itself. */
  | { readonly kind: 'not-leader' }
  /** A reader that was too slow for the server. */
  | { readonly kind: 'dropped' }
  /** The server answered, but with a failure of its own. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'away'; readonly reason: string };

type DriverError = Error & { readonly type?: unknown; readonly code?: unknown; readonly actualVersion?: unknown };

const grpc = { unknown: 2, permissionDenied: 7, aborted: 10, unauthenticated: 16 } as const;

/** Of a connection that was never made because the two sides do not agree on how to encrypt it. */
const encryption = /certificate|self.signed|wrong version number|ssl routines|tls_|err_tls|eproto|altname/iu;

export function faultOf(error: unknown): Fault {
  if (error instanceof LogRefusedError) return { kind: 'refused', reason: error.message };
  if (!(error instanceof Error)) return { kind: 'away', reason: 'the driver failed without an error' };
  const driver: DriverError = error;
  return typedFault(driver) ?? codedFault(driver);
}

function typedFault(error: DriverError): Fault | undefined {
  switch (error.type) {
    case ErrorType.WRONG_EXPECTED_VERSION:
      return { kind: 'wrong-version', actual: typeof error.actualVersion === 'bigint' ? Number(error.actualVersion) : undefined };
    case ErrorType.STREAM_NOT_FOUND:
      return { kind: 'no-stream' };
    case ErrorType.STREAM_DELETED:
      return { kind: 'tombstone' };
    case ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED:
      return { kind: 'too-large' };
    case ErrorType.ACCESS_DENIED:
      return { kind: 'refused', reason: 'it rejects the credentials, or their user may not read $all and write' };
    case ErrorType.NOT_LEADER:
      return { kind: 'not-leader' };
    default:
      return undefined;
  }
}

function codedFault(error: DriverError): Fault {
  const reason = reasonOf(error);
  if (error.code === grpc.unauthenticated || error.code === grpc.permissionDenied) return { kind: 'refused', reason: `it refuses access (${reason})` };
  if (encryption.test(error.message)) return { kind: 'refused', reason: `no encrypted connection can be made (${reason})` };
  if (error.code === grpc.aborted) return { kind: 'dropped' };
  if (error.code === grpc.unknown && !/not ready/iu.test(error.message)) return { kind: 'failed', reason };
  return { kind: 'away', reason };
}

/** One line for operators. Messages of the driver name hosts and statuses; what it was given to log in with is in none. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : 'unknown';
  // A status is for machines, and what was noted while a name was resolved is mostly nothing.
  const line = (text.split('\n', 1)[0] ?? '').replace(/^\d+ [A-Z_]+: /u, '').replace(/\.? Resolution note:.*$/u, '');
  if (line === '') return 'the server gave no reason';
  return line.length > logReasonLengthMax ? `${line.slice(0, logReasonLengthMax)}…` : line;
}

/** Whether a call failed before anything of it can have left this machine. */
export function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && /No connection established|Name resolution failed|Failed to discover/u.test(error.message);
}

/** Whether the server answered one append with this, and no stream failed: the driver makes such an error without a status. */
export function wasReplied(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { type, code }: DriverError = error;
  return typeof type === 'string' && code === undefined;
}
