import type { Rejection } from '../src/command/rejection.ts';

/** The result of one step. A step that throws has failed with the thrown error. */
export type Outcome =
  /** The actual state equals the desired state, or a later change will enqueue the key. */
  | { readonly type: 'settled' }
  /** The key must be enqueued again after a delay, even without a change. */
  | { readonly type: 'again'; readonly afterMs: number }
  /** The step must be retried, with growing delays. */
  | { readonly type: 'failed'; readonly error: unknown };

export const settled: Outcome = { type: 'settled' };

export function again(afterMs: number): Outcome {
  return { type: 'again', afterMs };
}

export function failed(error: unknown): Outcome {
  return { type: 'failed', error };
}

/** A rejected write that may succeed later, for example because the log is unavailable or another writer was faster. */
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
