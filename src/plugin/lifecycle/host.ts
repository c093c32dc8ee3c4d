import { within } from '../../base/clock.ts';
import { Slices } from '../../base/slices.ts';
import { inSlices } from '../../base/steps.ts';
import { must } from '../../base/unreachable.ts';
import { serviceController } from '../../base/service-controller.ts';
import type { IdlePlugin } from '../../auth/authorization/authorize.ts';
import type { ChangeBatch } from '../../read/objects.ts';
import { AppliedObjects } from '../objects/applied-objects.ts';
import { routeConflicts, typeConflicts, type RouteOwners } from '../registry/conflicts.ts';
import { DesiredStates, seenOf } from './desired-state.ts';
import { conversionFaults } from './status/conversion-faults.ts';
import { takeFound } from '../registry/discovered.ts';
import type { PluginHostDependencies } from './host-dependencies.ts';
import type { HostedPlugin } from './hosted-plugin.ts';
import { HostedPlugins } from './hosted-plugins.ts';
import { describeUnavailable } from './unavailable-plugin.ts';
import { packageWaitMs } from './life-limits.ts';
import type { LoadedPlugin } from '../load/load-plugin.ts';
import { loadTogether } from '../load/load-together.ts';
import { PluginFolders } from '../folders/plugin-folders.ts';
import { PluginObjects } from '../objects/plugin-objects.ts';
import { ProcessListeners } from '../errors/process-listeners.ts';
import { PluginQueue } from './plugin-queue.ts';
import { PluginStep } from './plugin-step.ts';
import { pendingActivities, waitUntilIdle, activityOf, undiscovered, type PluginActivity } from './plugin-activity.ts';
import { pluginKeyOf } from '../objects/plugin-type.ts';

/**
 * Runs the plugins of this node. Call `loadTypes` before events are folded, so that the fold adds index entries. Call
 * `start` after the read models have caught up. The host reconciles each plugin separately, one step at a time. The
 * leader reports the state of each plugin in its object.
 */
export class PluginHost {
  readonly #dependencies: PluginHostDependencies;
  readonly #objects: PluginObjects;
  readonly #step: PluginStep;
  readonly #desired: DesiredStates;
  readonly #queue: PluginQueue;
  readonly #hosted: HostedPlugins;
  readonly #plugins: ReadonlyMap<string, HostedPlugin>;
  readonly #folders: PluginFolders;
  readonly #listeners: ProcessListeners;
  readonly #routeOwners: RouteOwners = new Map();
  readonly #subscriptions: (() => void)[] = [];
  readonly #stopping = serviceController();
  #opening: Promise<void> = Promise.resolve();

  /** The type Plugin must be registered. */
  constructor(dependencies: PluginHostDependencies) {
    const { registry, domain, log, clock, folders: roots } = dependencies;
    this.#dependencies = dependencies;
    registry.expectPlugin(undiscovered);
    this.#folders = new PluginFolders({
      roots,
      clock,
      domain,
      log,
      onChange: (name) => {
        this.#onFilesChanged(name);
      },
    });
    this.#listeners = new ProcessListeners(process, dependencies.suspects, log);
    this.#objects = new PluginObjects(
      must(registry.byKey(pluginKeyOf(domain)), 'the type Plugin is registered').type,
      dependencies,
      log,
    );
    this.#hosted = new HostedPlugins({ folders: this.#folders, registry, isOpen: () => this.#queue.isOpen });
    const [objects, plugins] = [this.#objects, this.#hosted.all];
    this.#plugins = plugins;
    this.#desired = new DesiredStates({ objects, disabledPlugins: dependencies.disabledPlugins, plugins });
    this.#step = new PluginStep({
      ...dependencies,
      objects,
      desired: this.#desired,
      applied: new AppliedObjects({ ...dependencies, objects }),
      plugins,
      routeOwners: this.#routeOwners,
      reportLeftListeners: (plugin) => {
        this.#listeners.logRemaining(plugin);
      },
      enqueue: (plugin) => {
        this.#queue.enqueue(plugin);
      },
      forget: (plugin) => {
        this.#forget(plugin);
      },
    });
    this.#queue = new PluginQueue({
      plugins,
      step: this.#step,
      registry,
      log,
      place: (plugin) => {
        this.#hosted.place(plugin);
      },
    });
  }

  plugins(): readonly PluginActivity[] {
    return [...this.#plugins.values()].map(activityOf);
  }

  /** Returns the state of a plugin that does not serve its types and routes; undefined for other plugins. */
  idleOf(name: string): IdlePlugin | undefined {
    const plugin = this.#plugins.get(name);
    return plugin === undefined ? undefined : describeUnavailable(name, plugin.phase);
  }

  /** Scans the plugin folders, and returns whether a folder contains the plugin. */
  async hasFolder(name: string): Promise<boolean> {
    await this.#folders.scan();
    return this.#folders.has(name);
  }

  /** The `Plugin` objects, for the installer. */
  get objects(): PluginObjects {
    return this.#objects;
  }

  /** Returns the conflicts of a loaded, unregistered plugin with the types and routes of the present plugins. */
  conflicts({ types, definition }: Pick<LoadedPlugin, 'types' | 'definition'>, plugin: string): readonly string[] {
    const { registry, domain } = this.#dependencies;
    return [
      ...typeConflicts(types, plugin, registry),
      ...routeConflicts(definition, { plugin, bundled: false, domain }, { registry, routeOwners: this.#routeOwners }),
    ];
  }

  /**
   * Finds the plugins, runs the modules of enabled plugins, and registers the types of the modules that load in time.
   * Types are registered in the order of discovery. If two plugins declare a type, usually the same plugin registers
   * the type at every start. Slower plugins are registered later.
   */
  async loadTypes(): Promise<void> {
    this.#opening = this.#open();
    // An error is ignored here, because `start` rejects with the error.
    this.#opening.catch(() => undefined);
    return this.#opening;
  }

  async #open(): Promise<void> {
    const [{ clock, registry }, { signal }] = [this.#dependencies, this.#stopping];
    this.#listeners.open();
    await this.#folders.open();
    await this.#discover();
    registry.markKnown(undiscovered);
    await Promise.all([...this.#plugins.values()].map(async (plugin) => this.#refreshFiles(plugin)));
    if (signal.aborted) return;
    const wanted = [...this.#plugins.values()].filter(
      (plugin) =>
        plugin.ownFailure === undefined &&
        plugin.refused === undefined &&
        plugin.files !== undefined &&
        this.#desired.isEnabled(plugin),
    );
    await loadTogether(wanted, { step: this.#step, registry, clock, signal });
  }

  /** Reconciles every plugin. The read models must have caught up, and must have the platform's indexes. */
  async start(): Promise<void> {
    const { changes, leadership, reconcilers, migrations, unique, checks, disabledPlugins, log } = this.#dependencies;
    await this.#opening;
    // An object created during the discovery may sort before the cursor of the discovery, so the subscription comes
    // first.
    this.#subscriptions.push(
      changes.subscribe((batch) => {
        this.#onChanges(batch);
      }),
    );
    await this.#discover();
    if (this.#stopping.signal.aborted) {
      this.#unsubscribe();
      return;
    }
    this.#queue.open();
    this.#subscriptions.push(
      leadership.subscribe((leads) => {
        if (leads) this.#onLeadership();
      }),
      ...[reconcilers, migrations, unique, checks, conversionFaults(this.#dependencies.registry)].flatMap(
        (each) =>
          each?.subscribe((name) => {
            this.#onReconcilerHealth(name);
          }) ?? [],
      ),
    );
    this.#folders.follow();
    for (const plugin of this.#plugins.values()) this.#queue.enqueue(plugin);
    await this.settled();
    for (const name of disabledPlugins)
      if (!this.#plugins.has(name)) log.warn('PLUGINS_DISABLED names an unknown plugin', { name });
  }

  /** Returns the plugins that are not reconciled yet, with their present activities. */
  starting(): readonly string[] {
    return pendingActivities(this.#plugins.values());
  }

  /** Stops the host. Resolves when running steps have ended, and each plugin's `stop` has returned or timed out. */
  async stop(): Promise<void> {
    this.#queue.close();
    this.#dependencies.loadMarks.close();
    this.#stopping.abort();
    await this.#opening.catch(() => undefined);
    this.#unsubscribe();
    const all = [...this.#plugins.values()];
    for (const plugin of all) plugin.end();
    await this.#folders.close();
    await Promise.all(
      all.map(async (plugin) => {
        await plugin.reconciliation.running;
        this.#step.loads.drop(plugin, true);
        await plugin.incarnation?.end();
      }),
    );
    this.#listeners.close();
  }

  /** Resolves when every plugin is reconciled. All earlier changes of Plugin objects have then taken effect. */
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  /** Waits until this node has reconciled the plugin, or until the timeout. Returns undefined for an unknown plugin. */
  async waitUntilReconciled(name: string, timeoutMs: number): Promise<PluginActivity | undefined> {
    await waitUntilIdle(() => this.#plugins.get(name)?.reconciliation.running, this.#dependencies.clock, timeoutMs);
    const plugin = this.#plugins.get(name);
    return plugin === undefined ? undefined : activityOf(plugin);
  }

  #unsubscribe(): void {
    for (const unsubscribe of this.#subscriptions.splice(0)) unsubscribe();
  }

  async #discover(): Promise<void> {
    await inSlices(
      takeFound({ ...this.#dependencies, folders: this.#folders.names(), objects: this.#objects.key }, (name) => {
        this.#hosted.ensure(name);
      }),
      new Slices(this.#dependencies.clock),
    );
  }

  /** Refreshes the plugin's files. Waits for a limited time, because a package may have to be read from the log. */
  async #refreshFiles(plugin: HostedPlugin): Promise<void> {
    return within(this.#step.refresh(plugin), {
      clock: this.#dependencies.clock,
      ms: packageWaitMs,
      signal: this.#stopping.signal,
    });
  }

  #onFilesChanged(name: string): void {
    if (!this.#queue.isOpen) return;
    const plugin = this.#folders.get(name) === undefined ? this.#plugins.get(name) : this.#hosted.ensure(name);
    if (plugin !== undefined) this.#queue.enqueue(plugin);
  }

  #onChanges(batch: ChangeBatch): void {
    for (const { type, name, cause } of batch.changes) {
      if (type !== this.#objects.key) continue;
      const seen = seenOf(this.#objects.desired(name));
      if (seen === 'none' && !this.#plugins.has(name)) continue;
      const plugin = this.#hosted.ensure(name);
      if (plugin.desiredStateSeen !== seen) this.#queue.enqueue(plugin, cause);
    }
  }

  /** Enqueues a started plugin, so that its status gets the present notices, for example about its reconcilers. */
  #onReconcilerHealth(name: string): void {
    const plugin = this.#plugins.get(name);
    if (plugin?.phase === 'started') this.#queue.enqueue(plugin);
  }

  /** A new leader applies the objects of all plugins, because the previous leader may not have applied all of them. */
  #onLeadership(): void {
    for (const plugin of this.#plugins.values()) {
      plugin.recordEnsured(undefined);
      plugin.change({ type: 'apply', isApplied: false });
      this.#queue.enqueue(plugin);
    }
  }

  #forget(plugin: HostedPlugin): void {
    const { name, hadObject, reconciliation } = plugin;
    reconciliation.cancelRetry();
    if (this.#plugins.get(name) !== plugin) return;
    this.#hosted.remove(name, hadObject);
    // The plugin's object or folder may have been created again in the meantime.
    if (this.#objects.desired(name) !== undefined) this.#queue.enqueue(this.#hosted.ensure(name));
    else this.#onFilesChanged(name);
  }
}
