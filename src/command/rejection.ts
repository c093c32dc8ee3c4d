import type { Violation } from '../resource/type/resource-type.ts';

/**
 * The reason why a command is refused. This is a closed union; http/problem.ts maps each reason to a status.
 * `warnings`: warnings about members that were dropped before the refusal, as in Kubernetes.
 */
export type Rejection = Reason & { readonly warnings?: readonly string[] };

type Reason =
  | { readonly reason: 'bad-request'; readonly detail: string }
  /**
   * The caller lacks a right. For example, the object would grant rights that the caller does not have (decision 6.7).
   */
  | { readonly reason: 'forbidden'; readonly detail: string }
  | { readonly reason: 'not-found'; readonly detail: string }
  | { readonly reason: 'already-exists'; readonly detail: string }
  | { readonly reason: 'stale-version'; readonly detail: string }
  /** Other objects name the object, so it cannot be deleted. */
  | { readonly reason: 'referenced'; readonly detail: string }
  | { readonly reason: 'unique-value-taken'; readonly detail: string; readonly violations: readonly Violation[] }
  | { readonly reason: 'precondition-failed'; readonly detail: string }
  /** `root`: the document to which an empty pointer refers; if absent, the object. */
  | {
      readonly reason: 'invalid';
      readonly detail: string;
      readonly violations: readonly Violation[];
      readonly root?: 'patch';
    }
  | { readonly reason: 'too-many-requests'; readonly detail: string; readonly retryAfterSeconds: number }
  /** The free space of the disk is less than the reserve. */
  | { readonly reason: 'insufficient-storage'; readonly detail: string; readonly retryAfterSeconds: number }
  /** `lasts`: the node cannot recover without an operator, so callers must not wait for a recovery. */
  | {
      readonly reason: 'unavailable';
      readonly detail: string;
      readonly retryAfterSeconds: number;
      readonly lasts?: true;
    };

export type RejectionReason = Rejection['reason'];
