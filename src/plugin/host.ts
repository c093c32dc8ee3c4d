import PQueue from 'p-queue';

import { must } from '../base/unreachable.ts';
import type { Execute } from '../execute.ts';
import { nameProblem } from '../resource/names.ts';
import type { ChangeBatch, ChangeFeed, ObjectReader } from '../read/objects.ts';
import { typeKeyOf } from '../resource/type-declaration.ts';
import { applyObject, type ApplyDependencies } from './apply-object.ts';
import { HostedPlugin, type HostedPluginDependencies } from './hosted-plugin.ts';
import { describe, openDoor } from './load-module.ts';
import { decodeManifest, isVersionInRange, type DecodedManifest } from './manifest.ts';
import { discoverPlugins, readManifest, type PluginFolder } from './plugin-folder.ts';
import { PluginObjects, type Failure, type Notice } from './plugin-objects.ts';
import { pluginTypeName, type PluginPhase } from './plugin-type.ts';
import type { PluginLogger } from './plugin.ts';
import { startOrder } from './start-order.ts';

export type PluginHostDependencies = Omit<HostedPluginDependencies, 'routeOwners'> & {
  readonly execute: Execute;
  readonly reader: ObjectReader;
  readonly changes: ChangeFeed;
  readonly log: PluginLogger;
  readonly uuid: () => string;
  /** Folders of plugin folders; a relative path is the process's. */
  readonly folders: { readonly bundled: readonly string[]; readonly extra: readonly string[] };
};

/** A start that takes longer than this is told in the status although the last run ended in `started`. */
const slowStartMs = 500;

/**
 * The plugins of this node. `loadTypes` before events are folded, so that rows get their index entries at once; `start` once
 * the read models have caught up. Each plugin fails alone: its reason is in its `Plugin` object, and what it had registered
 * is taken back. From then on the host follows the `Plugin` objects: what they want is what runs.
 */
export class PluginHost {
  readonly #dependencies: PluginHostDependencies;
  readonly #apply: ApplyDependencies;
  readonly #objects: PluginObjects;
  /** In the order of discovery; names are unique. */
  readonly #plugins = new Map<string, HostedPlugin>();
  /** One a plugin: its changes take effect one after another. */
  readonly #queues = new Map<string, PQueue>();
  /** The generation of each Plugin object that was last acted on. */
  readonly #generations = new Map<string, unknown>();
  /** Which plugin has each route, by method and shape of its path. */
  readonly #routeOwners = new Map<string, string>();
  #unsubscribe: (() => void) | undefined;
  /** Changes of Plugin objects take effect one by one; until the start is done they are only remembered. */
  #isStarted = false;

  /** The type of plugins must be in the registry. */
  constructor(dependencies: PluginHostDependencies) {
    const { registry, domain, execute, reader, clock, uuid, log } = dependencies;
    const { group, plural } = pluginTypeName(domain);
    this.#dependencies = dependencies;
    this.#apply = { execute, reader, clock, domain, uuid };
    this.#objects = new PluginObjects(must(registry.byKey(typeKeyOf(group, plural)), 'the type of plugins is registered').type, this.#apply, log);
  }

  /** Every plugin and its phase, for readiness and metrics. */
  plugins(): readonly { readonly name: string; readonly phase: PluginPhase; readonly failure: Failure | undefined }[] {
    return [...this.#plugins.values()].map(({ name, phase, failure }) => ({ name, phase, failure }));
  }

  /** Finds the plugins, runs their modules and registers all their types. A plugin that is switched off is not run. */
  async loadTypes(): Promise<void> {
    const { folders, log } = this.#dependencies;
    const found = await discoverPlugins(folders, (root, error) => { log.error('a folder of plugins cannot be read', { root, error: String(error) }); });
    if (found.some(({ bundled }) => !bundled)) openDoor();
    const manifests = await Promise.all(found.map(async (folder) => ({ folder, decoded: await this.#decodeManifest(folder) })));
    for (const { folder, decoded } of manifests) this.#admit(folder, decoded);
    const wanted = this.#all().filter((plugin) => plugin.failure === undefined && (this.#objects.isEnabled(plugin.name) ?? plugin.manifest?.enabled) !== false);
    await Promise.all(wanted.map(async (plugin) => { plugin.failure = await plugin.load(); }));
    for (const plugin of wanted) plugin.failure ??= plugin.registerTypes();
    for (const plugin of wanted) plugin.failure ??= plugin.announceRoutes();
  }

  /** Brings every plugin up. The read models must have caught up, and the indexes of the platform's types be ready. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#dependencies.changes.subscribe((batch) => { this.#notice(batch); });
    const enabled = (await Promise.all(this.#all().map(async (plugin) => this.#isWanted(plugin)))).filter((plugin) => plugin !== undefined);
    await this.#buildAll(enabled.filter(({ failure }) => failure === undefined));
    const { order, cyclic } = startOrder(enabled.map(({ name, manifest }) => ({ name, dependencies: [...manifest?.dependencies.keys() ?? []] })));
    for (const name of order) {
      const plugin = must(this.#plugins.get(name), 'the order holds known plugins');
      const cycle = cyclic.get(name);
      plugin.failure ??= cycle === undefined ? undefined : { reason: 'DependencyCycle', message: `plugins depend on each other: ${cycle.join(' → ')}` };
      await this.#bringUp(plugin);
    }
    await this.#tellMissing();
    this.#isStarted = true;
    for (const plugin of this.#all()) if (this.#generations.get(plugin.name) !== this.#objects.generation(plugin.name)) this.#enqueue(plugin);
  }

  /** Follows no more changes; resolves when those in progress are done. Nothing is unregistered. */
  async stop(): Promise<void> {
    this.#unsubscribe?.();
    for (const queue of this.#queues.values()) queue.clear();
    await Promise.all([...this.#queues.values()].map(async (queue) => queue.onIdle()));
  }

  /** Resolves when every change of a Plugin object known by now has taken effect. */
  async settled(): Promise<void> {
    while ([...this.#queues.values()].some((queue) => queue.size > 0 || queue.pending > 0)) {
      await Promise.all([...this.#queues.values()].map(async (queue) => queue.onIdle()));
    }
  }

  #all(): readonly HostedPlugin[] {
    return [...this.#plugins.values()];
  }

  async #decodeManifest(folder: PluginFolder): Promise<DecodedManifest> {
    const file = await readManifest(folder);
    return file.ok ? decodeManifest(file.text, this.#dependencies.domain) : { ok: false, name: undefined, problems: [file.problem] };
  }

  /** The first folder with a name has it; a second one is told under its folder's name where that is free. */
  #admit(folder: PluginFolder, decoded: DecodedManifest): void {
    const { log } = this.#dependencies;
    const declared = decoded.ok ? decoded.manifest.name : decoded.name ?? folder.name;
    const twin = this.#plugins.get(declared);
    const name = twin === undefined ? declared : folder.name;
    if (this.#plugins.has(name) || nameProblem(name) !== undefined) {
      log.error('a folder holds no plugin that can be named', { folder: folder.path, name: declared, problems: decoded.ok ? [`another folder has this plugin: ${String(twin?.folder.path)}`] : decoded.problems });
      return;
    }
    const plugin = new HostedPlugin(name, folder, { ...this.#dependencies, routeOwners: this.#routeOwners });
    plugin.failure = twin === undefined ? plugin.takeManifest(decoded)
      : { reason: 'NameTaken', message: `plugin.yaml: the plugin ${declared} is in ${twin.folder.path} already` };
    this.#plugins.set(name, plugin);
  }

  /** Its object is made or brought up to date, and says whether it is to run. */
  async #isWanted(plugin: HostedPlugin): Promise<HostedPlugin | undefined> {
    const unwritten = await this.#ensureObject(plugin);
    plugin.failure ??= unwritten;
    if (this.#objects.isEnabled(plugin.name) === false) {
      await this.#switchOff(plugin);
      return undefined;
    }
    if (plugin.failure === undefined && this.#objects.phase(plugin.name) !== 'started') await this.#report(plugin, 'not-started');
    return plugin;
  }

  async #ensureObject(plugin: HostedPlugin): Promise<Failure | undefined> {
    const applied = await this.#objects.ensure(plugin.name, plugin.manifest);
    this.#generations.set(plugin.name, this.#objects.generation(plugin.name));
    if (!applied.ok) return { reason: 'PluginObjectRefused', message: `its Plugin object could not be written: ${applied.detail}` };
    plugin.kept.set('Plugin', applied.kept);
    return undefined;
  }

  async #buildAll(plugins: readonly HostedPlugin[]): Promise<void> {
    let told = Promise.resolve();
    const timer = this.#dependencies.clock.after(slowStartMs, () => {
      told = Promise.all(plugins.map(async (plugin) => this.#report(plugin, 'not-started'))).then(() => undefined);
    });
    await Promise.all(plugins.map(async (plugin) => { plugin.failure ??= await plugin.buildIndexes(); }));
    timer.cancel();
    await told;
  }

  /** With `failure` set it is only told. Whatever goes wrong, even in the platform's own part, is this plugin's alone. */
  async #bringUp(plugin: HostedPlugin): Promise<void> {
    const { log } = this.#dependencies;
    try {
      plugin.failure ??= await this.#serve(plugin);
    } catch (error) {
      plugin.failure = { reason: 'Unexpected', message: describe(error) };
    }
    if (plugin.failure === undefined) {
      for (const { type, message } of plugin.notices()) log.warn('plugin notice', { plugin: plugin.name, notice: type, message });
      log.info('plugin started', { plugin: plugin.name });
    } else {
      plugin.remove();
      log.error('plugin failed', { plugin: plugin.name, ...plugin.failure });
    }
    await this.#report(plugin, plugin.failure === undefined ? 'started' : 'failed');
  }

  async #serve(plugin: HostedPlugin): Promise<Failure | undefined> {
    const failure = (plugin.isRegistered ? undefined : await this.#reload(plugin))
      ?? this.#dependencyFailure(plugin) ?? await plugin.buildIndexes() ?? await this.#applyObjects(plugin);
    if (failure === undefined) plugin.serve();
    return failure;
  }

  async #reload(plugin: HostedPlugin): Promise<Failure | undefined> {
    const failure = await plugin.reload();
    if (failure !== undefined) return failure;
    return await this.#ensureObject(plugin) ?? plugin.registerTypes() ?? plugin.announceRoutes();
  }

  #dependencyFailure({ manifest }: HostedPlugin): Failure | undefined {
    for (const [name, range] of manifest?.dependencies ?? []) {
      const dependency = this.#plugins.get(name);
      if (dependency === undefined) return { reason: 'DependencyMissing', message: `it needs the plugin ${name}, which is not there` };
      if (dependency.phase !== 'started') return { reason: 'DependencyNotStarted', message: `it needs the plugin ${name}, which is ${dependency.phase}` };
      const version = dependency.manifest?.version;
      if (!isVersionInRange(version, range)) return { reason: 'DependencyVersion', message: `it needs version ${range} of the plugin ${name}, which is ${version ?? 'without a version'}` };
    }
    return undefined;
  }

  async #applyObjects(plugin: HostedPlugin): Promise<Failure | undefined> {
    const { registry } = this.#dependencies;
    const typed = plugin.objects.map((shipped) => ({ shipped, type: registry.all().find(({ type }) => type.apiVersion === shipped.apiVersion && type.kind === shipped.kind)?.type }));
    const untyped = typed.filter(({ type }) => type === undefined).map(({ shipped }) => `${shipped.file}: there is no type ${shipped.kind} of ${shipped.apiVersion}`);
    if (untyped.length > 0) return { reason: 'ObjectsRefused', message: untyped.join('; ') };
    for (const { shipped, type } of typed) {
      const { name, object, kind, file } = shipped;
      const applied = await applyObject({ type: must(type, 'objects without a type were refused'), name, object, subject: { kind: 'plugin', name: plugin.name }, plugin: plugin.name, origin: 'plugin' }, this.#apply);
      if (!applied.ok) return { reason: 'ObjectsRefused', message: `${file}: ${kind} ${name}: ${applied.detail}` };
      plugin.kept.set(`${kind} ${name}`, applied.kept);
    }
    return undefined;
  }

  async #report(plugin: HostedPlugin, phase: PluginPhase): Promise<void> {
    plugin.phase = phase;
    const notices: readonly Notice[] = phase === 'started' ? plugin.notices() : [];
    await this.#objects.report(plugin.name, { phase, failure: phase === 'failed' ? plugin.failure : undefined, notices });
  }

  async #switchOff(plugin: HostedPlugin): Promise<void> {
    plugin.remove();
    plugin.failure = undefined;
    await this.#report(plugin, 'stopped');
  }

  /** Plugin objects whose folder is gone. */
  async #tellMissing(): Promise<void> {
    const missing = this.#objects.names().filter((name) => !this.#plugins.has(name));
    const failure = { reason: 'FolderMissing', message: 'no folder of plugins holds it' };
    await Promise.all(missing.map(async (name) => this.#objects.report(name, { phase: 'failed', failure, notices: [] })));
  }

  #notice(batch: ChangeBatch): void {
    for (const { type, name } of batch.changes) {
      const plugin = type === this.#objects.key ? this.#plugins.get(name) : undefined;
      if (plugin !== undefined && this.#isStarted && this.#objects.generation(name) !== this.#generations.get(name)) this.#enqueue(plugin);
    }
  }

  #enqueue(plugin: HostedPlugin): void {
    const queue = this.#queues.get(plugin.name) ?? new PQueue({ concurrency: 1 });
    this.#queues.set(plugin.name, queue);
    queue.add(async () => this.#settle(plugin)).catch((error: unknown) => {
      this.#dependencies.log.error('a plugin could not be settled', { plugin: plugin.name, error: String(error) });
    });
  }

  /** One step from what is to what its object wants. */
  async #settle(plugin: HostedPlugin): Promise<void> {
    const before = plugin.phase;
    this.#generations.set(plugin.name, this.#objects.generation(plugin.name));
    if (this.#objects.isEnabled(plugin.name) !== true) {
      if (before !== 'stopped') await this.#switchOff(plugin);
    } else if (before !== 'started' || this.#dependencyFailure(plugin) !== undefined) {
      plugin.failure = this.#dependencyFailure(plugin);
      if (plugin.failure === undefined) await this.#report(plugin, 'not-started');
      await this.#bringUp(plugin);
    }
    if (plugin.phase !== before) this.#all().filter((other) => isAffected(other, plugin.name)).forEach((other) => { this.#enqueue(other); });
  }
}

/** It runs on that plugin, or waits for one. */
function isAffected(plugin: HostedPlugin, dependency: string): boolean {
  const isWaiting = plugin.failure?.reason.startsWith('Dependency') === true;
  return plugin.manifest?.dependencies.has(dependency) === true && (plugin.phase === 'started' || isWaiting);
}
