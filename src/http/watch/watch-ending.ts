import type { Ending, EndReason } from '../../watch/watch-plan.ts';
import type { FrameEncoding } from '../../watch/frame.ts';
import { problem, problems, type Problem, type ProblemReason } from '../problem.ts';

type EndingText = {
  /** A WebSocket's close code (RFC 6455, 7.4). */
  readonly closeCode: number;
  /** The reason of the ERROR event before the end; absent if the client can reconnect without an error. */
  readonly error?: ProblemReason;
};

export const endings = {
  'timed-out': { closeCode: 1000 },
  'too-slow': { closeCode: 1013 },
  unresponsive: { closeCode: 1006 },
  expired: { closeCode: 1000, error: 'expired' },
  'rights-lost': { closeCode: 4403, error: 'forbidden' },
  // The end of the connection alone would not explain that the type is removed.
  'type-removed': { closeCode: 1012, error: 'unavailable' },
  'shutting-down': { closeCode: 1012 },
  overloaded: { closeCode: 1013, error: 'too-many-requests' },
  failed: { closeCode: 1011, error: 'internal-error' },
} as const satisfies Record<EndReason, EndingText>;

/**
 * Encodes the ERROR event of an ending as a plain Kubernetes `Status`. Returns undefined for an ending without an
 * error.
 */
export function errorFrames({ reason, detail }: Ending, encoding: FrameEncoding): Uint8Array | undefined {
  const text: EndingText = endings[reason];
  if (text.error === undefined) return undefined;
  const { status, word } = problems[text.error];
  const object = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: detail,
    reason: word,
    code: status,
  };
  const parts: Uint8Array[] = [];
  encoding.encode(
    {
      type: 'ERROR',
      object: Buffer.from(JSON.stringify(object)),
      position: undefined,
    },
    parts,
  );
  return Buffer.concat(parts);
}

export function refusalProblem(refusal: 'too-many-watchers' | 'shutting-down'): Problem {
  return refusal === 'shutting-down'
    ? problem('unavailable', 'the server is shutting down', { retryAfterSeconds: 1 })
    : problem('too-many-requests', 'too many watches are open on this server', { retryAfterSeconds: 10 });
}
