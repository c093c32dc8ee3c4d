import type { Clock } from '../../../../src/base/clock.ts';
import { EventLoopTurns } from '../../../../src/base/event-loop-turns.ts';
import { Slices } from '../../../../src/base/slices.ts';
import { inSlices, type Steps } from '../../../../src/base/steps.ts';
import { TurnQueue } from '../../../../src/base/turn-queue.ts';
import { columnQueriesMax } from '../../../../src/limits/columns.ts';
import { listTurnMs } from '../../../../src/limits/lists.ts';

export type Asker = {
  readonly account: string;
  readonly signal: AbortSignal;
};

/**
 * Limits the number of concurrent queries, and so their memory. All running queries together use about `listTurnMs` of
 * each turn of the event loop.
 */
export class QueryTurns {
  readonly #clock: Clock;
  readonly #turns: EventLoopTurns;
  readonly #waiting = new TurnQueue<string, () => void>();
  #running = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turns = new EventLoopTurns(clock, listTurnMs);
  }

  /** Resolves when the asker may run its next slice. Rejects with the error of `signal` if `signal` has aborted. */
  async next({ account, signal }: Asker): Promise<void> {
    await this.#turns.next(account);
    signal.throwIfAborted();
  }

  /**
   * Runs a query. The query waits in a queue while `columnQueriesMax` queries run. Rejects with the error of `signal`
   * if `signal` aborts before the end.
   */
  async run<T>(asker: Asker, steps: () => Steps<T>): Promise<T> {
    await this.#begin(asker);
    try {
      let slices = new Slices(this.#clock);
      const next = async (): Promise<void> => {
        await this.next(asker);
        slices = new Slices(this.#clock);
      };
      await next();
      return await inSlices(steps(), { isOver: () => slices.isOver(), next });
    } finally {
      this.#running -= 1;
      this.#waiting.take()?.();
    }
  }

  async #begin({ account, signal }: Asker): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < columnQueriesMax) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.remove(account, enter);
        reject(signal.reason instanceof Error ? signal.reason : new Error('the request was cancelled'));
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        this.#running += 1;
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(account, enter);
    });
  }
}
