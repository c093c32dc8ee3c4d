import { ErrorType } from '@eventstore/db-client';

import { logReasonLengthMax } from './eventstore-limits.ts';
import { LogRefusedError } from '../log.ts';

/**
 * The meaning of an error of the driver. Errors are distinguished by their members, because the driver also throws
 * plain errors.
 */
export type Fault =
  /**
   * The last revision of the stream is not the expected revision. `actual` is undefined if the stream does not exist.
   */
  | { readonly kind: 'wrong-version'; readonly actual: number | undefined }
  | { readonly kind: 'no-stream' }
  /** The stream was deleted permanently, and accepts no further events. */
  | { readonly kind: 'tombstone' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Another member of the cluster is the leader now. The driver switches to the leader. */
  | { readonly kind: 'not-leader' }
  /** The server ended a subscription with a slow reader. */
  | { readonly kind: 'dropped' }
  /** The server replied with an internal error. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'away'; readonly reason: string };

type DriverError = Error & {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly actualVersion?: unknown;
};

const grpc = { unknown: 2, permissionDenied: 7, aborted: 10, unauthenticated: 16 } as const;

/** Matches errors of connections on which the two sides disagree about encryption. */
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
      return {
        kind: 'wrong-version',
        actual: typeof error.actualVersion === 'bigint' ? Number(error.actualVersion) : undefined,
      };
    case ErrorType.STREAM_NOT_FOUND:
      return { kind: 'no-stream' };
    case ErrorType.STREAM_DELETED:
      return { kind: 'tombstone' };
    case ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED:
      return { kind: 'too-large' };
    case ErrorType.ACCESS_DENIED:
      return {
        kind: 'refused',
        reason: 'the server rejects the credentials, or the user has no right to read $all and to write',
      };
    case ErrorType.NOT_LEADER:
      return { kind: 'not-leader' };
    default:
      return undefined;
  }
}

function codedFault(error: DriverError): Fault {
  const reason = reasonOf(error);
  if (error.code === grpc.unauthenticated || error.code === grpc.permissionDenied)
    return { kind: 'refused', reason: `the server refuses access (${reason})` };
  if (encryption.test(error.message))
    return { kind: 'refused', reason: `could not establish an encrypted connection (${reason})` };
  if (error.code === grpc.aborted) return { kind: 'dropped' };
  if (error.code === grpc.unknown && !/not ready/iu.test(error.message)) return { kind: 'failed', reason };
  return { kind: 'away', reason };
}

/** Returns the reason of an error in one line, for operators. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : 'unknown';
  // Removes the gRPC status and the driver's note about name resolution.
  const line = (text.split('\n', 1)[0] ?? '').replace(/^\d+ [A-Z_]+: /u, '').replace(/\.? Resolution note:.*$/u, '');
  if (line === '') return 'the server returned no reason';
  return line.length > logReasonLengthMax ? `${line.slice(0, logReasonLengthMax)}…` : line;
}

/** Returns whether a call failed before any part of its request was sent. */
export function wasNeverSent(error: unknown): boolean {
  return (
    error instanceof Error && /No connection established|Name resolution failed|Failed to discover/u.test(error.message)
  );
}

/** Returns whether an error is the server's reply to an append. Such an error of the driver has no gRPC status. */
export function wasReplied(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { type, code }: DriverError = error;
  return typeof type === 'string' && code === undefined;
}
