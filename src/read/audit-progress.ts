import type { LogPosition } from '../log/log.ts';
import type { WaitOptions } from './objects.ts';

/**
 * The progress of the audit indexes. Their position is usually behind the position of the object read model. With
 * EventStoreDB it may be ahead, because both have a subscription of their own.
 */
export type AuditProgress = {
  /** The position of the last folded event. */
  position(): LogPosition;
  /** The reason why no request can read the indexes, for example a build of the indexes; undefined if requests can. */
  unavailable(): string | undefined;
  /** Resolves with 'reached' once every event up to a position is folded, 'timeout', or 'aborted'. */
  reached(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'>;
  /**
   * Call it if the indexes have not reached a position that the read models have. A subscription may have left out the
   * last event of a quiet log, so the log is then read again after the last folded event.
   */
  overdue(): void;
};
