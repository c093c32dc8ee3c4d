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
