import type { Clock } from '../base/clock.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';

/**
 * The phases of a start, each with its undo: a stop, or a failed start, undoes the completed phases in reverse order.
 */
export class Startup {
  readonly #clock: Clock;
  readonly #log: Pick<PluginLogger, 'debug'>;
  readonly #undos: (() => Promise<void> | void)[] = [];

  constructor(clock: Clock, log: Pick<PluginLogger, 'debug'>) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Runs a phase and returns its result, which `undo` receives. A failed phase has no undo. */
  async phase<T>(name: string, run: () => Promise<T> | T, undo?: (result: T) => Promise<void> | void): Promise<T> {
    const begunAt = this.#clock.monotonic();
    const result = await run();
    if (undo !== undefined) this.#undos.push(() => undo(result));
    this.#log.debug('start: phase done', { phase: name, tookMs: Math.round(this.#clock.monotonic() - begunAt) });
    return result;
  }

  /** Undoes every phase, the last one first. Further calls do nothing. */
  async undo(): Promise<void> {
    for (const undo of this.#undos.splice(0).reverse()) await undo();
  }
}
