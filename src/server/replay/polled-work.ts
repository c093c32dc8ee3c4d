import { delay, type Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { replayReportMs } from '../../limits/replay.ts';
import { NotHeldError } from './check-memory.ts';

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

/** A part of a comparison that runs in the server's thread, with its progress. */
export class PolledWork<T> {
  /** Never rejects. */
  readonly outcome: Promise<Outcome<T>>;
  readonly #clock: Clock;
  #percent = 0;

  constructor(work: (onProgress: (percent: number) => void) => Promise<T>, clock: Clock) {
    this.#clock = clock;
    this.outcome = work((percent) => {
      this.#percent = percent;
    }).then(
      (value) => ({ ok: true, value }),
      (error: unknown) => ({ ok: false, error: messageOf(error) }),
    );
  }

  /**
   * Yields the progress in percent at intervals, and returns the result.
   *
   * @throws NotHeldError if the work has failed.
   */
  async *result(): AsyncGenerator<number, T> {
    for (;;) {
      const ended = new AbortController();
      const waited = delay(this.#clock, replayReportMs, ended.signal).then(() => undefined);
      const outcome = await Promise.race([this.outcome, waited]);
      ended.abort();
      if (outcome === undefined) yield this.#percent;
      else if (outcome.ok) return outcome.value;
      else throw new NotHeldError(outcome.error);
    }
  }
}
