import type { Clock } from '../base/clock.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';

type Undo<T> = (result: T) => Promise<void> | void;

/**
 * The phases of a start, with functions that undo the phases. Completed phases are undone in reverse order when the
 * server stops or its start fails.
 */
export class Startup {
  readonly #clock: Clock;
  readonly #log: Pick<PluginLogger, 'debug'>;
  readonly #undos: (() => Promise<void> | void)[] = [];

  constructor(clock: Clock, log: Pick<PluginLogger, 'debug'>) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Runs a phase and returns its result, which `undo` also receives. A failed phase is not undone. */
  async phase<T>(name: string, run: () => Promise<T> | T, undo?: Undo<T>): Promise<T> {
    const begunAt = this.#clock.monotonic();
    const result = await run();
    if (undo !== undefined) this.#undos.push(() => undo(result));
    this.#log.debug('a phase of the start has ended', {
      phase: name,
      tookMs: Math.round(this.#clock.monotonic() - begunAt),
    });
    return result;
  }

  /** Undoes all completed phases in reverse order. Further calls do nothing. */
  async undo(): Promise<void> {
    for (const undo of this.#undos.splice(0).reverse()) await undo();
  }
}
