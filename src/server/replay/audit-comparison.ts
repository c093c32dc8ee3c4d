import { must } from '../../base/unreachable.ts';
import type { Compared, Difference } from '../../read/replay.ts';
import { NotHeldError } from './check-memory.ts';
import type { ReplayThread } from './replay-thread.ts';
import type { Summary, ReplayMessage } from './replay-task.ts';

export type AuditComparisonResult = {
  readonly difference: Difference | undefined;
  readonly compared: Compared;
  /** The types with columns for lists of the past. */
  readonly columnTypes: readonly string[];
  readonly summary: Summary;
};

type Progress = Extract<ReplayMessage, { kind: 'progress' }>;

/** Reads the messages of the thread that compares the audit indexes. */
export class AuditComparison {
  readonly #thread: ReplayThread;

  constructor(thread: ReplayThread) {
    this.#thread = thread;
  }

  /**
   * Yields the latest progress, and returns the result.
   *
   * @throws NotHeldError if the comparison has no result.
   */
  async *result(): AsyncGenerator<Progress, AuditComparisonResult> {
    let comparison: Omit<AuditComparisonResult, 'summary'> | undefined;
    for (;;) {
      const message = await this.#thread.next();
      if (message === undefined) throw new NotHeldError('the replay of the audit indexes ended without a result');
      if (message.kind === 'failed' || message.kind === 'refused') throw new NotHeldError(message.detail);
      if (message.kind === 'progress' && !this.#thread.hasNext()) yield message;
      if (message.kind === 'compared') comparison = { columnTypes: [], ...message };
      if (message.kind === 'done') return { ...must(comparison, 'the comparison has ended'), summary: message.summary };
    }
  }
}
