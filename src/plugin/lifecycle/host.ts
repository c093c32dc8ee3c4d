import { setImmediate as nextTurn } from 'node:timers/promises';

import { within } from '../../base/clock.ts';
import { Slices } from '../../base/slices.ts';
import { inSlices } from '../../base/steps.ts';
import { must } from '../../base/unreachable.ts';
import type { IdlePlugin } from '../../auth/authorization/authorize.ts';
import type { ChangeBatch } from '../../read/objects.ts';
import { AppliedObjects } from '../objects/applied-objects.ts';
import { routeConflicts, typeConflicts, type RouteOwners } from '../registry/conflicts.ts';
import { takeFound } from '../registry/discovered.ts';
import type { PluginHostDependencies } from './host-dependencies.ts';
import { HostedPlugin } from './hosted-plugin.ts';
import { idlePlugin } from './idle-plugin.ts';
import { packageWaitMs } from './life-limits.ts';
import { describe } from '../load/load-module.ts';
import type { LoadedPlugin } from '../load/load-plugin.ts';
import { loadTogether } from '../load/load-together.ts';
import { PluginFolders } from '../folders/plugin-folders.ts';
import { PluginObjects } from '../objects/plugin-objects.ts';
import { ProcessListeners } from './process-listeners.ts';
import { PluginStep, seenOf } from './plugin-step.ts';
import { activitiesOf, isConcerned, restOf, standingOf, unfound, type PluginStanding } from './plugin-standing.ts';
import { pluginKeyOf } from '../objects/plugin-type.ts';

/**
 * The plugins of this node. Call `loadTypes` before events are folded, so that rows get their index entries at once;
 * call `start` once the read models have caught up. From then on the host follows `Plugin` objects, files in plugin
 * folders and dependencies between plugins. It reconciles each plugin separately, one step at a time, and reports its
 * state in its object.
 */
export class PluginHost {
  readonly #dependencies: PluginHostDependencies;
  readonly #objects: PluginObjects;
  readonly #step: PluginStep;
  /** In the order of discovery; names are unique. */
  readonly #plugins = new Map<string, HostedPlugin>();
  readonly #folders: PluginFolders;
  readonly #listeners: ProcessListeners;
  readonly #routeOwners: RouteOwners = new Map();
  readonly #subscriptions: (() => void)[] = [];
  readonly #stopping = new AbortController();
  #opening: Promise<void> = Promise.resolve();
  /** Before `start`, changes are only recorded; after `stop`, they are ignored. */
  #isRunning = false;

  /** The type Plugin must be registered. */
  constructor(dependencies: PluginHostDependencies) {
    const { registry, domain, log, clock, folders: roots } = dependencies;
    this.#dependencies = dependencies;
    registry.expects(unfound);
    this.#folders = new PluginFolders({ roots, clock, domain, log, onChange: (name) => { this.#filesChanged(name); } });
    this.#listeners = new ProcessListeners(process, dependencies.suspects, log);
    this.#objects = new PluginObjects(must(registry.byKey(pluginKeyOf(domain)), 'the type Plugin is registered').type, dependencies, log);
    this.#step = new PluginStep({
      ...dependencies, objects: this.#objects, applied: new AppliedObjects({ ...dependencies, objects: this.#objects }), plugins: this.#plugins, routeOwners: this.#routeOwners,
      tellLeftListeners: (plugin) => { this.#listeners.tellLeft(plugin); },
      enqueue: (plugin) => { this.#enqueue(plugin); },
      forget: (plugin) => { this.#forget(plugin); },
    });
  }

  /** Every plugin and its phase, for readiness and metrics. */
  plugins(): readonly PluginStanding[] {
    return [...this.#plugins.values()].map(standingOf);
  }

  /** Why the plugin serves nothing on this node. */
  idleOf(name: string): IdlePlugin | undefined {
    const plugin = this.#plugins.get(name);
    return plugin === undefined ? undefined : idlePlugin(name, plugin.state);
  }

  /** Whether a plugin folder contains the plugin now. */
  async hasFolder(name: string): Promise<boolean> {
    await this.#folders.look();
    return this.#folders.has(name);
  }

  /** The `Plugin` objects, for the installer. */
  get objects(): PluginObjects {
    return this.#objects;
  }

  /** Why a plugin that is loaded, but not registered, cannot start beside the present plugins. */
  conflicts({ types, definition }: Pick<LoadedPlugin, 'types' | 'definition'>, plugin: string): readonly string[] {
    const { registry, domain } = this.#dependencies;
    return [...typeConflicts(types, plugin, registry), ...routeConflicts(definition, { plugin, bundled: false, domain }, { registry, routeOwners: this.#routeOwners })];
  }

  /**
   * Finds the plugins, runs the modules of enabled ones, and registers the types of those that load in time, in the
   * order of discovery: of two plugins with the same type, the same one always gets it. Slower plugins follow
   * individually.
   */
  async loadTypes(): Promise<void> {
    this.#opening = this.#open();
    // `start`, which may run later, reports the error.
    this.#opening.catch(() => undefined);
    return this.#opening;
  }

  async #open(): Promise<void> {
    const [{ clock, registry }, { signal }] = [this.#dependencies, this.#stopping];
    this.#listeners.open();
    await this.#folders.open();
    await this.#discover();
    registry.knows(unfound);
    await Promise.all([...this.#plugins.values()].map(async (plugin) => this.#look(plugin)));
    if (signal.aborted) return;
    const wanted = [...this.#plugins.values()].filter((plugin) => plugin.own === undefined && plugin.refused === undefined && plugin.files !== undefined && this.#step.isEnabled(plugin));
    await loadTogether(wanted, { step: this.#step, registry, clock, signal });
  }

  /**
   * Reconciles every plugin. The read models must have caught up, and the indexes of the platform's types must be
   * ready.
   */
  async start(): Promise<void> {
    const { changes, leadership, reconcilers, unique, keptOff, log } = this.#dependencies;
    await this.#opening;
    // Subscribed first: objects created during the discovery may sort before its cursor.
    this.#subscriptions.push(changes.subscribe((batch) => { this.#notice(batch); }));
    await this.#discover();
    if (this.#stopping.signal.aborted) {
      this.#unsubscribe();
      return;
    }
    this.#isRunning = true;
    this.#subscriptions.push(leadership.subscribe((leads) => { if (leads) this.#lead(); }),
      ...[reconcilers, unique].flatMap((each) => each?.subscribe((name) => { this.#trouble(name); }) ?? []));
    this.#folders.follow();
    for (const plugin of this.#plugins.values()) this.#enqueue(plugin);
    await this.settled();
    for (const name of keptOff) if (!this.#plugins.has(name)) log.warn('PLUGINS_DISABLED names an unknown plugin', { name });
  }

  /** The plugins that are not reconciled yet, each with its present activity. */
  starting(): readonly string[] {
    return activitiesOf(this.#plugins.values());
  }

  /** Stops following changes; resolves when steps in progress are done and plugins have ended their own work. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#dependencies.loadMarks.close();
    this.#stopping.abort();
    await this.#opening.catch(() => undefined);
    this.#unsubscribe();
    const all = [...this.#plugins.values()];
    for (const plugin of all) plugin.end();
    await this.#folders.close();
    await Promise.all(all.map(async (plugin) => {
      await plugin.running;
      this.#step.loads.drop(plugin, true);
      await plugin.incarnation?.end();
    }));
    this.#listeners.close();
  }

  /** Resolves when every plugin is reconciled: every change of a Plugin object known by now has taken effect. */
  async settled(): Promise<void> {
    for (let running = this.#running(); running.length > 0; running = this.#running()) await Promise.all(running);
  }

  /** Resolves when this node has reconciled the plugin, or after the timeout; undefined if there is no such plugin. */
  async standing(name: string, timeoutMs: number): Promise<PluginStanding | undefined> {
    await restOf(() => this.#plugins.get(name)?.running, this.#dependencies.clock, timeoutMs);
    const plugin = this.#plugins.get(name);
    return plugin === undefined ? undefined : standingOf(plugin);
  }

  #running(): readonly Promise<void>[] {
    return [...this.#plugins.values()].flatMap(({ running }) => (running === undefined ? [] : [running]));
  }

  #unsubscribe(): void {
    for (const unsubscribe of this.#subscriptions.splice(0)) unsubscribe();
  }

  async #discover(): Promise<void> {
    await inSlices(takeFound({ ...this.#dependencies, folders: this.#folders.names(), objects: this.#objects.key }, (name) => { this.#known(name); }), new Slices(this.#dependencies.clock));
  }

  #known(name: string): HostedPlugin {
    const known = this.#plugins.get(name);
    if (known !== undefined) return known;
    const plugin = new HostedPlugin(name);
    this.#folders.takeIn(name);
    this.#place(plugin);
    this.#plugins.set(name, plugin);
    // For a plugin found later, missing paths need not wait.
    if (!this.#isRunning) this.#dependencies.registry.expects(name);
    return plugin;
  }

  /** Updates the folder of the plugin's files. */
  #place(plugin: HostedPlugin): void {
    const placed = this.#folders.get(plugin.name);
    plugin.folder = placed?.folder;
    plugin.folderDigest = placed?.digest;
    plugin.refused = placed?.refused;
  }

  /** Waits for a limited time for the log to return the package. */
  async #look(plugin: HostedPlugin): Promise<void> {
    return within(this.#step.refresh(plugin), { clock: this.#dependencies.clock, ms: packageWaitMs, signal: this.#stopping.signal });
  }

  #filesChanged(name: string): void {
    if (!this.#isRunning) return;
    const plugin = this.#folders.get(name) === undefined ? this.#plugins.get(name) : this.#known(name);
    if (plugin !== undefined) this.#enqueue(plugin);
  }

  #notice(batch: ChangeBatch): void {
    for (const { type, name } of batch.changes) {
      if (type !== this.#objects.key) continue;
      const seen = seenOf(this.#objects.wish(name));
      if (seen === 'none' && !this.#plugins.has(name)) continue;
      const plugin = this.#known(name);
      if (plugin.seen !== seen) this.#enqueue(plugin);
    }
  }

  /** Its reconcilers' health is part of how it stands, and so are unique indexes that are not enforced. */
  #trouble(name: string): void {
    const plugin = this.#plugins.get(name);
    if (plugin?.state === 'started') this.#enqueue(plugin);
  }

  /** As a new leader, checks everything that the last leader wrote. */
  #lead(): void {
    for (const plugin of this.#plugins.values()) {
      plugin.ensuredDigest = undefined;
      plugin.isApplied = false;
      this.#enqueue(plugin);
    }
  }

  #enqueue(plugin: HostedPlugin): void {
    if (!this.#isRunning) return;
    plugin.isDirty = true;
    plugin.wake?.();
    plugin.running ??= this.#run(plugin);
  }

  async #run(plugin: HostedPlugin): Promise<void> {
    // In a later turn: several changes of a plugin are handled as one, and other work runs in between.
    await nextTurn();
    let hasThrown = false;
    // A forgotten plugin is done: a later plugin of the same name is another one.
    while (plugin.isDirty && this.#isRunning && this.#plugins.get(plugin.name) === plugin) {
      plugin.isDirty = false;
      try {
        this.#place(plugin);
        await this.#step.settle(plugin);
      } catch (error) {
        this.#dependencies.log.error('could not reconcile a plugin', { plugin: plugin.name, error: describe(error) });
        // Retries once at once, to report the failure; after another error it waits.
        if (hasThrown) this.#step.settleLater(plugin);
        else {
          hasThrown = true;
          this.#step.fail(plugin, { reason: 'Unexpected', message: describe(error) });
          plugin.isDirty = true;
        }
      }
    }
    plugin.running = undefined;
    if (plugin.incarnation !== undefined || !plugin.isWaiting) this.#dependencies.registry.knows(plugin.name);
    this.#tellOthers(plugin);
  }

  /** Enqueues dependents, dependencies that wait to stop, and plugins whose conflict may be resolved now. */
  #tellOthers(plugin: HostedPlugin): void {
    const told = `${plugin.state} ${plugin.version ?? ''} ${String(plugin.isLeaving)}`;
    const isNews = told !== plugin.told;
    const isFreed = (plugin.told?.startsWith('started') === true) !== (plugin.state === 'started');
    plugin.told = told;
    for (const other of this.#plugins.values()) {
      if (other === plugin) continue;
      if (isFreed && other.own?.failure.passing === true) {
        other.own = undefined;
        this.#enqueue(other);
      } else if (isConcerned(other, plugin, isNews)) this.#enqueue(other);
    }
  }

  #forget(plugin: HostedPlugin): void {
    const { name, wasThere, retry } = plugin;
    retry?.cancel();
    if (this.#plugins.get(name) !== plugin) return;
    this.#plugins.delete(name);
    if (wasThere) this.#folders.leaveOut(name);
    // Its object or its folder may have been created again in the meantime.
    if (this.#objects.wish(name) !== undefined) this.#enqueue(this.#known(name));
    else this.#filesChanged(name);
  }
}
