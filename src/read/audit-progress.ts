import type { LogPosition } from '../log/log.ts';

/**
 * The progress of the audit indexes. Their position is usually behind that of the object read model, but may be ahead
 * of it with EventStoreDB, where both have a subscription of their own.
 */
export type AuditProgress = {
  /** The position of the last folded event. */
  position(): LogPosition;
  /** The reason why no request can read the indexes, for example a build of the indexes; undefined if requests can. */
  unavailable(): string | undefined;
  /** Resolves with 'reached' once every event up to a position is folded, 'timeout', or 'aborted'. */
  reached(
    position: LogPosition,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<'reached' | 'timeout' | 'aborted'>;
};
