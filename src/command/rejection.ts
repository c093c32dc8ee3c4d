import type { Violation } from '../resource/type/resource-type.ts';

/**
 * The reason why a command is refused: a closed union, mapped to a status in one table (http/problem.ts). `warnings`:
 * about members that were dropped before the refusal, as in Kubernetes.
 */
export type Rejection = Reason & { readonly warnings?: readonly string[] };

type Reason =
  | { readonly reason: 'bad-request'; readonly detail: string }
  /**
   * The caller is known but lacks a right: for example, the object would grant more rights than the caller holds
   * (decision 6.7).
   */
  | { readonly reason: 'forbidden'; readonly detail: string }
  | { readonly reason: 'not-found'; readonly detail: string }
  | { readonly reason: 'already-exists'; readonly detail: string }
  | { readonly reason: 'stale-version'; readonly detail: string }
  | { readonly reason: 'unique-value-taken'; readonly detail: string; readonly violations: readonly Violation[] }
  | { readonly reason: 'precondition-failed'; readonly detail: string }
  /** `root`: the name for an empty pointer; the object if absent. */
  | {
      readonly reason: 'invalid';
      readonly detail: string;
      readonly violations: readonly Violation[];
      readonly root?: 'patch';
    }
  | { readonly reason: 'too-many-requests'; readonly detail: string; readonly retryAfterSeconds: number }
  /** The disk has less free space than its reserve. */
  | { readonly reason: 'insufficient-storage'; readonly detail: string; readonly retryAfterSeconds: number }
  /** `lasts`: the node cannot recover by itself, so callers must not wait for it. */
  | {
      readonly reason: 'unavailable';
      readonly detail: string;
      readonly retryAfterSeconds: number;
      readonly lasts?: true;
    };

export type RejectionReason = Rejection['reason'];
