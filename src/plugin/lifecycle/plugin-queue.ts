import { setImmediate as nextTurn } from 'node:timers/promises';

import type { CausingEvent } from '../../command/event.ts';
import type { HostedPlugin } from './hosted-plugin.ts';
import { describe } from '../load/load-module.ts';
import { isConcerned } from './plugin-activity.ts';
import type { PluginStep } from './plugin-step.ts';
import type { PluginLogger } from '../api/plugin.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

export type PluginQueueDependencies = {
  /** All plugins of this node. */
  readonly plugins: ReadonlyMap<string, HostedPlugin>;
  readonly step: PluginStep;
  readonly registry: TypeRegistry;
  readonly log: PluginLogger;
  /** Records the present location of the plugin's files. */
  readonly place: (plugin: HostedPlugin) => void;
};

/** Reconciles the enqueued plugins independently of each other, each until its desired state is reached. */
export class PluginQueue {
  readonly #dependencies: PluginQueueDependencies;
  /** The state of each plugin when other plugins were last notified. */
  readonly #reported = new WeakMap<HostedPlugin, string>();
  /** Whether plugins can be enqueued: false before the host starts and after the host stops. */
  #isOpen = false;

  constructor(dependencies: PluginQueueDependencies) {
    this.#dependencies = dependencies;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Stops the queue. Passes in progress continue; no further pass begins. */
  close(): void {
    this.#isOpen = false;
  }

  /** Resolves when every plugin is reconciled. All earlier changes of Plugin objects have then taken effect. */
  async settled(): Promise<void> {
    for (let running = this.#running(); running.length > 0; running = this.#running()) await Promise.all(running);
  }

  #running(): readonly Promise<void>[] {
    return [...this.#dependencies.plugins.values()].flatMap(({ reconciliation: { running } }) =>
      running === undefined ? [] : [running],
    );
  }

  /** Enqueues a plugin. `cause` is the event of the Plugin object that is the reason for the reconciliation. */
  enqueue(plugin: HostedPlugin, cause?: CausingEvent): void {
    if (!this.#isOpen) return;
    plugin.module.wake();
    plugin.reconciliation.request(async () => this.#run(plugin), cause);
  }

  async #run(plugin: HostedPlugin): Promise<void> {
    // Waits for a later turn, so that one step handles several changes of a plugin, and other work can run first.
    await nextTurn();
    let hasThrown = false;
    // A plugin that was removed from the host is not reconciled. A later plugin of the same name has its own entry.
    const { reconciliation } = plugin;
    while (reconciliation.isRequested && this.#isOpen && this.#dependencies.plugins.get(plugin.name) === plugin) {
      reconciliation.beginPass();
      try {
        this.#dependencies.place(plugin);
        await this.#dependencies.step.reconcile(plugin);
      } catch (error) {
        this.#dependencies.log.error('could not reconcile a plugin; retrying', {
          plugin: plugin.name,
          error: describe(error),
        });
        // The first retry is immediate, to report the failure. Further retries are delayed.
        if (hasThrown) this.#dependencies.step.reconcileLater(plugin);
        else {
          hasThrown = true;
          this.#dependencies.step.fail(plugin, { reason: 'Unexpected', message: describe(error) });
          reconciliation.repeat();
        }
      }
    }
    reconciliation.endRun();
    if (plugin.incarnation !== undefined || !plugin.isWaiting) this.#dependencies.registry.markKnown(plugin.name);
    this.#notifyPlugins(plugin);
  }

  /**
   * Enqueues the plugins that the state of this plugin may affect: dependents, dependencies, plugins with a conflict
   * that may be resolved now, and plugins with a changed report about the rules of their roles.
   */
  #notifyPlugins(plugin: HostedPlugin): void {
    const before = this.#reported.get(plugin);
    const now = `${plugin.phase} ${plugin.version ?? ''} ${String(plugin.isLeaving)}`;
    const isNews = now !== before;
    const isFreed = (before?.startsWith('started') === true) !== (plugin.phase === 'started');
    this.#reported.set(plugin, now);
    for (const other of this.#dependencies.plugins.values()) {
      if (other === plugin) continue;
      if (isFreed && other.ownFailure?.failure.isTransient === true) {
        other.recordFailure(undefined);
        this.enqueue(other);
      } else if (isConcerned(other, plugin, isNews)) this.enqueue(other);
    }
    if (isNews) for (const other of this.#dependencies.step.withChangedRules()) this.enqueue(other);
  }
}
