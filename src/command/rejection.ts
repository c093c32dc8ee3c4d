import type { Violation } from '../resource/type/resource-type.ts';

/**
 * The reason why a command is refused, in a closed union. `warnings` are about members that were dropped before the
 * refusal, as in Kubernetes.
 */
export type Rejection = Reason & { readonly warnings?: readonly string[] };

type Reason =
  | { readonly reason: 'bad-request'; readonly detail: string }
  /**
   * The caller lacks a right, for example because the object would grant other rights than the caller's (decision 6.7).
   */
  | { readonly reason: 'forbidden'; readonly detail: string }
  | { readonly reason: 'not-found'; readonly detail: string }
  | { readonly reason: 'already-exists'; readonly detail: string }
  | { readonly reason: 'stale-version'; readonly detail: string }
  /** Other objects refer to the object, so the object cannot be deleted. */
  | { readonly reason: 'referenced'; readonly detail: string }
  | { readonly reason: 'unique-value-taken'; readonly detail: string; readonly violations: readonly Violation[] }
  | { readonly reason: 'precondition-failed'; readonly detail: string }
  /** `root` is the document to which an empty pointer refers; the object by default. */
  | {
      readonly reason: 'invalid';
      readonly detail: string;
      readonly violations: readonly Violation[];
      readonly root?: 'patch';
    }
  | { readonly reason: 'too-many-requests'; readonly detail: string; readonly retryAfterSeconds: number }
  /** The free space of the disk is below the reserve. */
  | { readonly reason: 'insufficient-storage'; readonly detail: string; readonly retryAfterSeconds: number }
  /**
   * `lasts`: the platform's own writes do not wait for the end of this state, which may need an operator. `until`: the
   * write may wait until the plugin of its type is loaded, and its type declared. `isUnwritten`: the write has
   * had no effect, and will have none.
   */
  | {
      readonly reason: 'unavailable';
      readonly detail: string;
      readonly retryAfterSeconds: number;
      readonly lasts?: true;
      readonly until?: 'declared';
      readonly isUnwritten?: true;
    };

export type RejectionReason = Rejection['reason'];
