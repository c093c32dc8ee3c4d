import type { LogPosition } from '../log/log.ts';
import type { WaitOptions } from './objects.ts';

/**
 * The progress of the audit indexes. Their position is usually behind the position of the object read model. With
 * EventStoreDB it may be ahead, because each has its own subscription.
 */
export type AuditProgress = {
  /** The position of the last folded event. */
  position(): LogPosition;
  /** The reason why no request can read the indexes, for example a build of the indexes; undefined if requests can. */
  unavailable(): string | undefined;
  /** Resolves with 'reached' as soon as every event up to a position is folded, or with 'timeout' or 'aborted'. */
  reached(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'>;
  /**
   * Call this method if the indexes do not reach a position that the read models have reached. A subscription may have
   * left out the last event of a quiet log, so the log is then read again after the last folded event.
   */
  overdue(): void;
};
