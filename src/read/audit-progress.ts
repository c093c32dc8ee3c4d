import type { LogPosition } from '../log/log.ts';

/** How far the audit indexes follow the log. They are folded after the object read model. */
export type AuditProgress = {
  /** The position of the last folded event. */
  position(): LogPosition;
  /** Why the indexes cannot be read, for example since they are being built; undefined if they can. */
  unavailable(): string | undefined;
  /** Resolves once everything up to a position is folded. */
  reached(
    position: LogPosition,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<'reached' | 'timeout' | 'aborted'>;
};
