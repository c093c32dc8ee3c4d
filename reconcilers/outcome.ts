import type { Rejection } from '../src/command/rejection.ts';

/** What one step came to. A step that throws has failed with what it threw. */
export type Outcome =
  /** The world is as it should be, or waits for a change that will enqueue the key. */
  | { readonly type: 'settled' }
  /** To be looked at again without a change. */
  | { readonly type: 'again'; readonly afterMs: number }
  /** To be tried again, each time later. */
  | { readonly type: 'failed'; readonly error: unknown };

export const settled: Outcome = { type: 'settled' };

export function again(afterMs: number): Outcome {
  return { type: 'again', afterMs };
}

export function failed(error: unknown): Outcome {
  return { type: 'failed', error };
}

/** A write that was refused and may not be the next time: the log is away, another writer was faster. */
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
