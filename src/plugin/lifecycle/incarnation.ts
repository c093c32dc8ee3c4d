import type { Clock } from '../../base/clock.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { routeConflicts, typeConflicts, type RouteOwners } from '../registry/conflicts.ts';
import { shapesOf } from '../load/decode-endpoints.ts';
import type { RouteMounts } from '../api/endpoints.ts';
import { pluginStopMs } from './life-limits.ts';
import { describe } from '../load/load-module.ts';
import type { LoadedPlugin } from '../load/load-plugin.ts';
import type { Manifest } from '../load/manifest.ts';
import type { Failure } from './plugin-status.ts';
import type { PluginLogger } from '../api/plugin.ts';
import type { ReconcilerMounts } from '../api/reconciler-mounts.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

/** How far the index build of one type is. */
export type BuildProgress = (done: number, total: number) => void;

/** Stored objects on which index functions fail: how many values are missing, of which object the first, what was thrown for it and where. */
export type Unindexed = { readonly count: number; readonly first?: string; readonly problem?: string; readonly trace?: string };

/** Says in the log what types are declared as. */
export type TypeDeclarer = {
  /** Resolves once that is said, or it is plain that it is not for this node to say. */
  declare(types: readonly ResourceType[]): Promise<void>;
  /** Another node's declaration counts: this one writes none of its objects. */
  isOther(type: ResourceType): boolean;
};

export type IncarnationDependencies = {
  readonly registry: TypeRegistry;
  readonly routes: RouteMounts;
  readonly reconcilers: ReconcilerMounts;
  readonly routeOwners: RouteOwners;
  readonly buildIndexes: (type: ResourceType, onProgress: BuildProgress) => Promise<Unindexed>;
  readonly closeWatches: (type: TypeKey) => void;
  /** Absent: nothing is said of them, and every node may write them. */
  readonly declarer?: TypeDeclarer;
  /** Of one that has ended. */
  readonly tellLeftListeners: (plugin: string) => void;
  readonly clock: Clock;
  readonly domain: string;
  readonly log: PluginLogger;
};

/** What runs: one version of a plugin's files, loaded. */
export type Loaded = {
  readonly plugin: string;
  readonly bundled: boolean;
  /** Of the files it was loaded from. */
  readonly digest: string | undefined;
  readonly manifest: Manifest;
  readonly loaded: LoadedPlugin;
};

/**
 * One loading of a plugin and all it has registered, from `register` to `release`. Nothing else refers to what was loaded, so
 * that dropping this drops it.
 */
export class Incarnation {
  readonly is: Loaded;
  readonly #dependencies: IncarnationDependencies;
  readonly #registered: ResourceType[] = [];
  areIndexesBuilt = false;
  /** By type; those of which every object has its values are not in it. */
  readonly unindexed = new Map<TypeKey, Unindexed>();

  constructor(loaded: Loaded, dependencies: IncarnationDependencies) {
    this.is = loaded;
    this.#dependencies = dependencies;
  }

  /** All at once or not at all: in one turn, so that no other plugin comes between. */
  registerTypes(): Failure | undefined {
    const { plugin, loaded } = this.is;
    const { registry } = this.#dependencies;
    const conflicts = typeConflicts(loaded.types, plugin, registry);
    if (conflicts.length > 0) return { reason: 'TypesRefused', message: conflicts.join('; '), passing: true };
    for (const type of loaded.types) {
      const registered = registry.register(type);
      if (!registered.ok) return { reason: 'TypesRefused', message: `type ${type.kind} of ${type.group} (${type.plural}) is declared twice` };
      this.#registered.push(type);
    }
    return undefined;
  }

  /** After the types of all plugins that start together, as a route may not be in another's group. */
  announceRoutes(): Failure | undefined {
    const { plugin, bundled, loaded: { definition } } = this.is;
    const { routes, routeOwners, registry, domain } = this.#dependencies;
    const conflicts = routeConflicts(definition, { plugin, bundled, domain }, { registry, routeOwners });
    if (conflicts.length > 0) return { reason: 'RoutesRefused', message: conflicts.join('; '), passing: true };
    try {
      routes.announce(plugin, definition);
    } catch (error) {
      return { reason: 'RoutesRefused', message: describe(error) };
    }
    for (const { shape } of shapesOf(definition)) routeOwners.set(shape, plugin);
    return undefined;
  }

  /** `onPercent` is told how far it is, of all its types. */
  async buildIndexes(onPercent: (percent: number) => void): Promise<Failure | undefined> {
    const count = this.#registered.length;
    try {
      for (const [place, type] of this.#registered.entries()) {
        const unindexed = await this.#dependencies.buildIndexes(type, (done, total) => { onPercent(Math.floor(100 * (place + Math.min(1, done / Math.max(1, total))) / count)); });
        if (unindexed.count > 0) this.unindexed.set(type.key, unindexed);
      }
    } catch (error) {
      return { reason: 'IndexesFailed', message: `could not build its indexes: ${describe(error)}` };
    }
    await this.isItsOwn();
    this.areIndexesBuilt = true;
    return undefined;
  }

  /** Its types are declared as it has them, now or by what this says: no other version's objects are to be kept. */
  async isItsOwn(): Promise<boolean> {
    const { declarer } = this.#dependencies;
    await declarer?.declare(this.#registered);
    return !this.#registered.some((type) => declarer?.isOther(type) === true);
  }

  /** All that its paths are in. */
  groups(): ReadonlySet<string> {
    const { types, definition: { routes, sockets } } = this.is.loaded;
    return new Set([...types.map(({ group }) => group), ...[...routes, ...sockets].map(({ path }) => path.split('/')[2] ?? '')]);
  }

  serve(): void {
    const { plugin, loaded: { definition } } = this.is;
    for (const type of this.#registered) this.#dependencies.registry.serve(type.key);
    this.#dependencies.routes.mount(plugin, definition);
    this.#dependencies.reconcilers.mount(plugin, definition.reconcilers);
    this.#dependencies.registry.rests(plugin);
  }

  /** Takes back everything it has registered; its watches end, and its own `stop` is called. Objects stay. */
  async release(): Promise<void> {
    const { plugin } = this.is;
    const { registry, reconcilers, routes, routeOwners, closeWatches } = this.#dependencies;
    // First: no step begins after this, though those that run have until their limit to end.
    const quiet = reconcilers.unmount(plugin);
    routes.unmount(plugin);
    for (const [shape, owner] of routeOwners) if (owner === plugin) routeOwners.delete(shape);
    for (const type of this.#registered.splice(0)) {
      registry.remove(type.key);
      closeWatches(type.key);
    }
    await quiet;
    await this.end();
  }

  /** Its own timers and listeners. Also of one that never was served: its module ran. What it throws is told and changes nothing. */
  async end(): Promise<void> {
    const { plugin, loaded: { definition: { stop } } } = this.is;
    if (stop !== undefined) await this.#stop(stop);
    this.#dependencies.tellLeftListeners(plugin);
  }

  async #stop(stop: () => unknown): Promise<void> {
    const { plugin } = this.is;
    const { clock, log } = this.#dependencies;
    await new Promise<void>((resolve) => {
      const timer = clock.after(pluginStopMs, () => {
        log.error('a plugin did not stop in time', { plugin, limitMs: pluginStopMs });
        resolve();
      });
      Promise.resolve().then(stop).catch((error: unknown) => {
        log.error('a plugin failed to stop', { plugin, error: describe(error) });
      }).finally(() => {
        timer.cancel();
        resolve();
      }).catch(() => undefined);
    });
  }
}
