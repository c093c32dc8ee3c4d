import type { LogPosition } from '../log/log.ts';
import type { WaitOptions } from './objects.ts';

/**
 * The progress of the audit indexes, which are usually behind the object read model. With EventStoreDB, the audit
 * indexes may be ahead, because of a separate subscription.
 */
export type AuditProgress = {
  /** The position of the last folded event. */
  position(): LogPosition;
  /**
   * Returns the reason why no request can read the indexes, for example a build of the indexes; otherwise undefined.
   */
  unavailable(): string | undefined;
  /** Resolves with 'reached' as soon as each event up to a position is folded, or with 'timeout' or 'aborted'. */
  reached(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'>;
  /**
   * Must be called if the indexes do not reach a position of the read models. A subscription may have left out the last
   * event of a quiet log. The log is then read again after the last folded event.
   */
  overdue(): void;
};
