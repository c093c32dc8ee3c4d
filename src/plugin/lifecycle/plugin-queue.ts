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

/** Reconciles the enqueued plugins independently, each until it has its desired state. */
export class PluginQueue {
  readonly #dependencies: PluginQueueDependencies;
  /** The state of each plugin when other plugins were last notified. */
  readonly #reported = new WeakMap<HostedPlugin, string>();
  /** Nothing is enqueued before the host starts, or after it stops. */
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

  /** Steps in progress end by themselves; none begins. */
  close(): void {
    this.#isOpen = false;
  }

  /** Resolves when every plugin is reconciled: every change of a Plugin object known by now has taken effect. */
  async settled(): Promise<void> {
    for (let running = this.#running(); running.length > 0; running = this.#running()) await Promise.all(running);
  }

  #running(): readonly Promise<void>[] {
    return [...this.#dependencies.plugins.values()].flatMap(({ reconciliation: { running } }) =>
      running === undefined ? [] : [running],
    );
  }

  /** `cause`: the event of the Plugin object that is the reason. */
  enqueue(plugin: HostedPlugin, cause?: CausingEvent): void {
    if (!this.#isOpen) return;
    plugin.module.wake();
    plugin.reconciliation.request(async () => this.#run(plugin), cause);
  }

  async #run(plugin: HostedPlugin): Promise<void> {
    // Waits for a later turn, so that several changes of a plugin are handled as one, and other work runs in between.
    await nextTurn();
    let hasThrown = false;
    // A forgotten plugin is done: a later plugin of the same name is another one.
    const { reconciliation } = plugin;
    while (reconciliation.isRequested && this.#isOpen && this.#dependencies.plugins.get(plugin.name) === plugin) {
      reconciliation.beginPass();
      try {
        this.#dependencies.place(plugin);
        await this.#dependencies.step.reconcile(plugin);
      } catch (error) {
        this.#dependencies.log.error('could not reconcile a plugin', { plugin: plugin.name, error: describe(error) });
        // The first error is retried immediately, to report the failure; after a second one the retry waits.
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

  /** Enqueues dependents, dependencies that wait to stop, and plugins whose conflict may be resolved now. */
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
  }
}
