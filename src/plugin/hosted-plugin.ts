import type { TypeKey } from '../resource/index-entry.ts';
import type { ResourceType } from '../resource/resource-type.ts';
import { shapesOf } from './decode-endpoints.ts';
import { endpointProblems, type GroupOwner } from './definition.ts';
import type { RouteMounts } from './endpoints.ts';
import { describe } from './load-module.ts';
import { loadPlugin, type LoadDependencies, type LoadedPlugin } from './load-plugin.ts';
import { decodeManifest, type DecodedManifest, type Manifest } from './manifest.ts';
import { readManifest, type PluginFolder } from './plugin-folder.ts';
import type { Failure, Notice } from './plugin-objects.ts';
import type { PluginPhase } from './plugin-type.ts';
import type { ReconcilerMounts } from './reconciler-mounts.ts';
import type { TypeRegistry } from './type-registry.ts';

export type HostedPluginDependencies = LoadDependencies & {
  readonly registry: TypeRegistry;
  readonly routes: RouteMounts;
  readonly reconcilers: ReconcilerMounts;
  /** Which plugin has each route of all plugins that have any, by method and shape of the path. */
  readonly routeOwners: Map<string, string>;
  readonly buildIndexes: (type: ResourceType) => Promise<void>;
  readonly closeWatches: (type: TypeKey) => void;
};

/** One plugin and what it has registered. Steps answer why they failed; whatever was registered is then taken back by `remove`. */
export class HostedPlugin {
  readonly name: string;
  readonly folder: PluginFolder;
  readonly #dependencies: HostedPluginDependencies;
  phase: PluginPhase = 'not-started';
  /** Why it does not run, as long as it does not. */
  failure: Failure | undefined;
  /** By object: pointers of what both people and the plugin changed since the plugin was last applied. */
  readonly kept = new Map<string, readonly string[]>();
  #manifest: Manifest | undefined;
  /** Present exactly while its types are in the registry and its routes are announced or mounted. */
  #registered: LoadedPlugin | undefined;
  /** Loaded and not yet registered. */
  #loaded: LoadedPlugin | undefined;
  #areIndexesBuilt = false;
  /** How often it was loaded. */
  #loads = 0;

  constructor(name: string, folder: PluginFolder, dependencies: HostedPluginDependencies) {
    this.name = name;
    this.folder = folder;
    this.#dependencies = dependencies;
  }

  get manifest(): Manifest | undefined {
    return this.#manifest;
  }

  get objects(): LoadedPlugin['objects'] {
    return this.#registered?.objects ?? [];
  }

  get isRegistered(): boolean {
    return this.#registered !== undefined;
  }

  notices(): readonly Notice[] {
    const ignored = this.#registered?.definition.ignoredControllers ?? [];
    const kept = [...this.kept].filter(([, pointers]) => pointers.length > 0).map(([object, pointers]) => `${object}: ${pointers.join(', ')}`);
    const notices: Notice[] = [];
    if (ignored.length > 0) notices.push({ type: 'ControllersIgnored', reason: 'NoApiVersion', message: `never served, as they have no apiVersion: ${ignored.map((path) => JSON.stringify(path)).join(', ')}` });
    if (kept.length > 0) notices.push({ type: 'ChangesKept', reason: 'ChangedByPeople', message: `changed by people and by the plugin, people's values stand: ${kept.join('; ')}` });
    return notices;
  }

  takeManifest(decoded: DecodedManifest): Failure | undefined {
    this.#manifest = decoded.ok ? decoded.manifest : this.#manifest;
    return decoded.ok ? undefined : { reason: 'ManifestUnreadable', message: `plugin.yaml: ${decoded.problems.join('; ')}` };
  }

  /** What lies on disk now, a manifest that has changed included. */
  async reload(): Promise<Failure | undefined> {
    const file = await readManifest(this.folder);
    const decoded: DecodedManifest = file.ok ? decodeManifest(file.text, this.#dependencies.domain) : { ok: false, name: undefined, problems: [file.problem] };
    const failure = this.takeManifest(decoded);
    if (failure !== undefined) return failure;
    if (this.#manifest?.name !== this.name) return { reason: 'ManifestUnreadable', message: `plugin.yaml: metadata.name was ${this.name} when the server started` };
    return this.load();
  }

  async load(): Promise<Failure | undefined> {
    const manifest = this.#manifest;
    if (manifest === undefined) return this.failure;
    const load = await loadPlugin({ folder: this.folder, manifest, attempt: this.#loads }, this.#dependencies);
    this.#loads += 1;
    if (!load.ok) return load.failure;
    this.#loaded = load.loaded;
    return undefined;
  }

  /** All at once or not at all: in one turn, so that no other plugin comes between. */
  registerTypes(): Failure | undefined {
    const loaded = this.#loaded;
    if (loaded === undefined) return undefined;
    const { registry } = this.#dependencies;
    this.#loaded = undefined;
    this.#registered = { ...loaded, types: [] };
    for (const type of loaded.types) {
      const registered = registry.register(type);
      if (!registered.ok) return this.#refused('TypesRefused', `type ${type.kind} of ${type.group} (${type.plural}) is already there: ${ownerText(registered.owner)} has it`);
      this.#registered = { ...loaded, types: [...this.#registered.types, type] };
    }
    return undefined;
  }

  /** After the types of all plugins that start together, as a route may not be in another's group. */
  announceRoutes(): Failure | undefined {
    const declared = this.#registered?.definition ?? { routes: [], sockets: [] };
    const { routes, routeOwners, domain } = this.#dependencies;
    const problems = [...endpointProblems(declared, { plugin: this.name, bundled: this.folder.bundled, domain }, (group, version) => this.#ownersOf(group, version))];
    const shapes = shapesOf(declared);
    for (const { shape, title } of shapes) {
      const owner = routeOwners.get(shape);
      if (owner !== undefined && owner !== this.name) problems.push(`${title}: the plugin ${owner} has this route`);
    }
    if (problems.length > 0) return this.#refused('RoutesRefused', problems.join('; '));
    for (const { shape } of shapes) routeOwners.set(shape, this.name);
    try {
      routes.announce(this.name, declared);
    } catch (error) {
      return this.#refused('RoutesRefused', describe(error));
    }
    return undefined;
  }

  async buildIndexes(): Promise<Failure | undefined> {
    if (this.#areIndexesBuilt || this.#registered === undefined) return undefined;
    try {
      for (const type of this.#registered.types) await this.#dependencies.buildIndexes(type);
    } catch (error) {
      return { reason: 'IndexesFailed', message: `its indexes could not be built: ${describe(error)}` };
    }
    this.#areIndexesBuilt = true;
    return undefined;
  }

  serve(): void {
    if (this.#registered === undefined) return;
    for (const type of this.#registered.types) this.#dependencies.registry.serve(type.key);
    this.#dependencies.routes.mount(this.name, this.#registered.definition);
    this.#dependencies.reconcilers.mount(this.name, this.#registered.definition.reconcilers);
  }

  /** Takes back everything it has registered; its watches end. Objects stay. */
  remove(): void {
    const { registry, reconcilers, routes, routeOwners, closeWatches } = this.#dependencies;
    // First: no step begins after this. What runs is aborted, and ends by itself.
    void reconcilers.unmount(this.name);
    routes.unmount(this.name);
    for (const type of this.#registered?.types ?? []) {
      registry.remove(type.key);
      closeWatches(type.key);
    }
    for (const [shape, owner] of routeOwners) if (owner === this.name) routeOwners.delete(shape);
    this.#registered = undefined;
    this.#loaded = undefined;
    this.#areIndexesBuilt = false;
  }

  #ownersOf(group: string, version: string): readonly GroupOwner[] {
    const owners = new Map<string, Set<string>>();
    for (const { type } of this.#dependencies.registry.all()) {
      if (type.group !== group) continue;
      const plurals = owners.get(type.plugin) ?? new Set<string>();
      if (type.version === version) plurals.add(type.plural);
      owners.set(type.plugin, plurals);
    }
    return [...owners].map(([plugin, plurals]) => ({ plugin, plurals }));
  }

  #refused(reason: string, message: string): Failure {
    this.remove();
    return { reason, message };
  }
}

function ownerText(owner: string): string {
  return owner === 'platform' ? 'the platform' : `the plugin ${owner}`;
}
