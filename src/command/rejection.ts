import type { Violation } from '../resource/type/resource-type.ts';

/** Why a command was refused: a closed union, mapped to a status in one table at the edge (http/problem.ts). */
export type Rejection =
  | { readonly reason: 'bad-request'; readonly detail: string }
  /** Known who asks, and it is not theirs to do: what the object would grant is more than they hold (decision 6.7). */
  | { readonly reason: 'forbidden'; readonly detail: string }
  | { readonly reason: 'not-found'; readonly detail: string }
  | { readonly reason: 'already-exists'; readonly detail: string }
  | { readonly reason: 'stale-version'; readonly detail: string }
  | { readonly reason: 'unique-value-taken'; readonly detail: string; readonly violations: readonly Violation[] }
  | { readonly reason: 'precondition-failed'; readonly detail: string }
  | { readonly reason: 'invalid'; readonly detail: string; readonly violations: readonly Violation[] }
  | { readonly reason: 'too-many-requests'; readonly detail: string; readonly retryAfterSeconds: number }
  /** The disk has less free than its reserve. */
  | { readonly reason: 'insufficient-storage'; readonly detail: string; readonly retryAfterSeconds: number }
  /** `lasts`: for as long as this node is as it is, so nobody waits for it. */
  | { readonly reason: 'unavailable'; readonly detail: string; readonly retryAfterSeconds: number; readonly lasts?: true };

export type RejectionReason = Rejection['reason'];
