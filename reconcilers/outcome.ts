import type { Rejection } from '../src/command/rejection.ts';

/** The result of one step. A step that throws has failed with its error. */
export type Outcome =
  /** The actual state is right, or a change will enqueue the key. */
  | { readonly type: 'settled' }
  /** Run again after a delay, without a change. */
  | { readonly type: 'again'; readonly afterMs: number }
  /** Retry, with growing delays. */
  | { readonly type: 'failed'; readonly error: unknown };

export const settled: Outcome = { type: 'settled' };

export function again(afterMs: number): Outcome {
  return { type: 'again', afterMs };
}

export function failed(error: unknown): Outcome {
  return { type: 'failed', error };
}

/** A refused write that may succeed later: the log is unavailable, or another writer was faster. */
export class WriteRefusedError extends Error {
  override readonly name = 'WriteRefusedError';
  readonly reason: Rejection['reason'];

  constructor({ reason, detail }: Rejection) {
    super(detail);
    this.reason = reason;
  }
}

export function refused(rejection: Rejection): Outcome {
  return failed(new WriteRefusedError(rejection));
}
