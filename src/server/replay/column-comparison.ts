import { delay } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { replayReportMs } from '../../limits/replay.ts';
import type { CheckedColumns } from '../../../projections/replay/check-columns.ts';
import { checkLiveColumns, NotHeldError, type CheckedMemory, type LiveModels } from './check-memory.ts';

type Outcome = CheckedColumns | { readonly failed: string };

const nothing: CheckedColumns = { difference: undefined, rows: 0, notCompared: [] };

/**
 * The comparison of the columns for lists of the past. Code of plugins computes the values, so it runs in the server's
 * thread. It runs only if the comparison of the indexes has found no difference.
 */
export class ColumnComparison {
  readonly #live: LiveModels;
  readonly #outcome: Promise<Outcome>;
  #percent = 0;

  constructor(memory: Promise<CheckedMemory | { readonly failed: string }>, live: LiveModels, signal: AbortSignal) {
    this.#live = live;
    this.#outcome = memory
      .then(async (checked) => {
        if ('failed' in checked || checked.difference !== undefined) return nothing;
        return checkLiveColumns(live, signal, (percent) => {
          this.#percent = percent;
        });
      })
      .catch((error: unknown) => ({ failed: messageOf(error) }));
  }

  /** Resolves when the comparison has ended. */
  async ended(): Promise<void> {
    await this.#outcome;
  }

  /** Yields the compared share of the log in percent, and returns the result. @throws NotHeldError if there is none. */
  async *result(): AsyncGenerator<number, CheckedColumns> {
    for (;;) {
      const ended = new AbortController();
      const waited = delay(this.#live.clock, replayReportMs, ended.signal).then(() => undefined);
      const outcome = await Promise.race([this.#outcome, waited]);
      ended.abort();
      if (outcome === undefined) yield this.#percent;
      else if ('failed' in outcome) throw new NotHeldError(outcome.failed);
      else return outcome;
    }
  }
}
