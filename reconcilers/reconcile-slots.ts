import PQueue from 'p-queue';
import { setImmediate } from 'node:timers';

import type { Clock } from '../src/base/clock.ts';
import type { ReconcilerReport, ReconcilerReports } from '../src/read/operation/reconciler-report.ts';
import {
  reconcilePluginSlotsMax,
  reconcileSlotsMax,
  reconcileSlotsPerPluginMax,
  reconcileTurnMs,
  reconcileTurnStepsMax,
} from './reconcile-limits.ts';

/** The measurements of a controller. */
export type Measured = {
  readonly name: string;
  readonly depth: number;
  /** The number of keys that are slowed down because their steps spin. */
  readonly spinning: number;
  /** The number of ended steps by result. `stuck`: the number of steps that exceeded their time limit. */
  readonly counts: Readonly<Record<'settled' | 'again' | 'failed' | 'stuck', number>>;
  /** The number of consecutive failures by key. Keys with a successful last step are absent. */
  readonly failing: ReadonlyMap<string, number>;
  /** Returns the state of the controller, with a bounded size. */
  report(): ReconcilerReport;
  /** Resolves when no key waits for a step and no step runs except stuck steps. */
  idle(): Promise<void>;
};

/**
 * The limits that all controllers share: the number of concurrent steps, and their time in one turn of the event loop.
 * Plugins have lower limits, so that no plugin blocks the platform or another plugin.
 */
export class ReconcileSlots implements ReconcilerReports {
  readonly #clock: Clock;
  readonly #all = new PQueue({ concurrency: reconcileSlotsMax });
  readonly #plugins = new PQueue({ concurrency: reconcilePluginSlotsMax });
  /** The share of each plugin with running or waiting steps. */
  readonly #shares = new Map<string, PQueue>();
  readonly #controllers = new Set<Measured>();
  #isTurnTimed = false;
  #turnBeganMs = 0;
  #turnSteps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `task` when a slot is free. If a plugin is given, the slot counts against the plugin's limit. */
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

  /** Counts a step. Returns whether the event loop must turn before the next step. */
  isTurnOver(): boolean {
    const now = this.#clock.monotonic();
    if (!this.#isTurnTimed) {
      this.#isTurnTimed = true;
      this.#turnBeganMs = now;
      this.#turnSteps = 0;
      setImmediate(() => {
        this.#isTurnTimed = false;
      });
    }
    this.#turnSteps += 1;
    return this.#turnSteps >= reconcileTurnStepsMax || now - this.#turnBeganMs >= reconcileTurnMs;
  }

  /** Includes the controller in the measurements until the returned function is called. */
  measure(controller: Measured): () => void {
    this.#controllers.add(controller);
    return () => {
      this.#controllers.delete(controller);
    };
  }

  /** Returns the reports of all controllers, by plugin and name. */
  reports(): readonly ReconcilerReport[] {
    return this.controllers()
      .map((controller) => controller.report())
      .sort((one, other) => compare(one.plugin, other.plugin) || compare(one.name, other.name));
  }

  controllers(): readonly Measured[] {
    return [...this.#controllers];
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
