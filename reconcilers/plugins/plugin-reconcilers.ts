import type { Timer } from '../../src/base/clock.ts';
import type { MountedReconciler, ReconcilerMounts, ReconcilerTrouble } from '../../src/plugin/api/reconciler-mounts.ts';
import type { ChangeFeed } from '../../src/read/objects.ts';
import { TracedSteps } from './traced-steps.ts';
import { PluginReconciler, type PluginReconcilerDependencies } from './plugin-reconciler.ts';
import { reconcileHealthReportMs } from '../reconcile-limits.ts';

export type PluginReconcilersDependencies = Omit<PluginReconcilerDependencies, 'onHealth' | 'traced'> & {
  readonly changes: ChangeFeed;
  readonly uuid: () => string;
};

/** The health of a plugin as last reported, and the timer of the next check. */
type Shown = {
  text: string;
  timer: Timer | undefined;
};

/**
 * The reconcilers of plugins, with one controller each, so that a failure affects only the reconciler that has failed.
 */
export class PluginReconcilers implements ReconcilerMounts {
  readonly #dependencies: PluginReconcilersDependencies;
  readonly #mounted = new Map<string, readonly PluginReconciler[]>();
  /** By plugin: resolves when the unmounted reconcilers have stopped. */
  readonly #ending = new Map<string, Promise<void>>();
  /** The reported health of the plugins in `#mounted`. */
  readonly #shown = new Map<string, Shown>();
  readonly #listeners = new Set<(plugin: string) => void>();
  readonly #traced: TracedSteps;
  readonly #unsubscribe: () => void;

  constructor(dependencies: PluginReconcilersDependencies) {
    this.#dependencies = dependencies;
    this.#traced = new TracedSteps(dependencies.uuid);
    this.#unsubscribe = dependencies.changes.subscribe(({ changes }) => {
      if (this.#mounted.size === 0) return;
      this.#traced.notice(changes);
      for (const reconcilers of this.#mounted.values())
        for (const reconciler of reconcilers) reconciler.notice(changes);
    });
  }

  mount(plugin: string, reconcilers: readonly MountedReconciler[]): void {
    const ended = this.unmount(plugin);
    if (reconcilers.length === 0) return;
    const mounted = reconcilers.map(
      (reconciler) =>
        new PluginReconciler(plugin, reconciler, {
          ...this.#dependencies,
          traced: this.#traced,
          onHealth: () => {
            this.#scheduleCheck(plugin);
          },
        }),
    );
    this.#mounted.set(plugin, mounted);
    this.#shown.set(plugin, { text: '[]', timer: undefined });
    // Waits for the stop of the earlier mount, so that no name has two concurrent steps, unless the stop timed out.
    void ended.then(() => {
      for (const reconciler of mounted) reconciler.open();
    });
  }

  async unmount(plugin: string): Promise<void> {
    const mounted = this.#mounted.get(plugin);
    if (mounted === undefined) return this.#ending.get(plugin);
    this.#mounted.delete(plugin);
    this.#shown.get(plugin)?.timer?.cancel();
    this.#shown.delete(plugin);
    const ended = Promise.all([this.#ending.get(plugin), ...mounted.map(async (reconciler) => reconciler.stop())]).then(
      () => {
        if (this.#ending.get(plugin) === ended) this.#ending.delete(plugin);
      },
    );
    this.#ending.set(plugin, ended);
    return ended;
  }

  health(plugin: string): readonly ReconcilerTrouble[] {
    return (this.#mounted.get(plugin) ?? []).flatMap((reconciler) => reconciler.health());
  }

  subscribe(listener: (plugin: string) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Resolves when no plugin's reconciler has a waiting or running step, and all unmounted reconcilers have stopped.
   * Ignores delayed steps.
   */
  async idle(): Promise<void> {
    await Promise.all([...this.#ending.values()]);
    await Promise.all([...this.#mounted.values()].flat().map(async (reconciler) => reconciler.idle()));
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    const plugins = [...this.#mounted.keys(), ...this.#ending.keys()];
    await Promise.all(plugins.map(async (plugin) => this.unmount(plugin)));
  }

  /** Checks the health after a delay and reports a change, since many names may fail at the same time. */
  #scheduleCheck(plugin: string): void {
    const shown = this.#shown.get(plugin);
    if (shown === undefined || shown.timer !== undefined) return;
    shown.timer = this.#dependencies.clock.after(reconcileHealthReportMs, () => {
      shown.timer = undefined;
      const text = JSON.stringify(this.health(plugin));
      if (text === shown.text) return;
      shown.text = text;
      for (const listener of this.#listeners) listener(plugin);
    });
  }
}
