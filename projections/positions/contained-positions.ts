import { logStart, type EventLog, type LogPosition, type RecordedEvent } from '../../src/log/log.ts';
import type { WaitOptions } from '../../src/read/objects.ts';
import type { Fold } from '../runner.ts';

type Outcome = 'reached' | 'timeout' | 'aborted';

export type FoldedModels = Pick<Fold, 'position' | 'categories'> & {
  reached(position: LogPosition, options: WaitOptions): Promise<Outcome>;
};

/**
 * Waits until read models contain all their events up to a position. The last events of the log may belong to
 * categories that the models do not fold, such as log-ins. The position of the models is then before these events, and
 * stays there until the next write.
 */
export class ContainedPositions {
  readonly #log: Pick<EventLog, 'head' | 'readAll'>;
  readonly #models: FoldedModels;
  /** The position up to which the log has no event for the models after their own position. */
  #quietUntil: LogPosition = logStart;

  constructor(log: Pick<EventLog, 'head' | 'readAll'>, models: FoldedModels) {
    this.#log = log;
    this.#models = models;
  }

  async reached(position: LogPosition, options: WaitOptions): Promise<Outcome> {
    const head = await this.#log.head();
    if (position > head) return this.#models.reached(position, options);
    while (this.#after() < position) {
      const events = await this.#unfolded(head, options.signal);
      if (options.signal?.aborted === true) return 'aborted';
      if (events.length === 0 && head > this.#quietUntil) this.#quietUntil = head;
      const last = events.findLast((event) => event.position <= position);
      if (last === undefined) return 'reached';
      const outcome = await this.#models.reached(last.position, options);
      if (outcome !== 'reached') return outcome;
    }
    return 'reached';
  }

  /**
   * Returns a position after which the search for events to fold begins: the models have folded all their earlier
   * events.
   */
  #after(): LogPosition {
    const folded = this.#models.position();
    return folded > this.#quietUntil ? folded : this.#quietUntil;
  }

  /** Returns the next events that the models must fold. */
  async #unfolded(until: LogPosition, signal: AbortSignal | undefined): Promise<readonly RecordedEvent[]> {
    const { categories } = this.#models;
    const reading = signal === undefined ? {} : { signal };
    for await (const batch of this.#log.readAll({ after: this.#after(), until, categories, ...reading })) return batch;
    return [];
  }
}
