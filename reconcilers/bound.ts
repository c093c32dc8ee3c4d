import PQueue from 'p-queue';
import { setImmediate } from 'node:timers';

import type { Clock } from '../src/base/clock.ts';
import { reconcilePluginSlotsMax, reconcileSlotsMax, reconcileSlotsPerPluginMax, reconcileTurnMs, reconcileTurnStepsMax } from './reconcile-limits.ts';

/** What a controller tells of itself. */
export type Measured = {
  readonly name: string;
  readonly depth: number;
  /** Steps that ended, by what they came to; `stuck` are those that passed their time. */
  readonly counts: Readonly<Record<'settled' | 'again' | 'failed' | 'stuck', number>>;
  /** Keys whose last step failed, and how often in a row. */
  readonly failing: ReadonlyMap<string, number>;
  /** Resolves when no key waits for a step or is held by one. */
  idle(): Promise<void>;
};

/**
 * The bound over all controllers: how many steps run at once, and how long they may go on in one turn of the event loop.
 * Plugins have a share each and one together, so that none of them keeps the platform's controllers, or another plugin's,
 * from running.
 */
export class ReconcileBound {
  readonly #clock: Clock;
  readonly #all = new PQueue({ concurrency: reconcileSlotsMax });
  readonly #plugins = new PQueue({ concurrency: reconcilePluginSlotsMax });
  /** Shares of the plugins that have asked for a slot and have one, or wait. */
  readonly #shares = new Map<string, PQueue>();
  readonly #controllers = new Set<Measured>();
  #isTurnTimed = false;
  #turnBeganMs = 0;
  #turnSteps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `task` once a slot is free; of the plugin's share where one is named. */
  async run(plugin: string | undefined, task: () => Promise<void>): Promise<void> {
    if (plugin === undefined) return this.#all.add(task);
    const share = this.#shares.get(plugin) ?? new PQueue({ concurrency: reconcileSlotsPerPluginMax });
    this.#shares.set(plugin, share);
    try {
      await share.add(async () => this.#plugins.add(async () => this.#all.add(task)));
    } finally {
      if (share.size === 0 && share.pending === 0 && this.#shares.get(plugin) === share) this.#shares.delete(plugin);
    }
  }

  /** Counts a step, and says whether the event loop is to have its turn before the next one. */
  isTurnOver(): boolean {
    const now = this.#clock.monotonic();
    if (!this.#isTurnTimed) {
      this.#isTurnTimed = true;
      this.#turnBeganMs = now;
      this.#turnSteps = 0;
      setImmediate(() => { this.#isTurnTimed = false; });
    }
    this.#turnSteps += 1;
    return this.#turnSteps >= reconcileTurnStepsMax || now - this.#turnBeganMs >= reconcileTurnMs;
  }

  /** From now on it is measured, until what is answered is called. */
  measure(controller: Measured): () => void {
    this.#controllers.add(controller);
    return () => { this.#controllers.delete(controller); };
  }

  controllers(): readonly Measured[] {
    return [...this.#controllers];
  }
}
