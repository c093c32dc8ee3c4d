import type { BuildProgress, Unindexed } from '../../read/index-build.ts';
import type { Clock } from '../../base/clock.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { routeConflicts, typeConflicts, type RouteOwners } from '../registry/conflicts.ts';
import { shapesOf } from '../load/decode-endpoints.ts';
import type { CausingEvent } from '../../command/event.ts';
import type { RouteMounts } from '../api/endpoints.ts';
import type { FrontEndMounts } from '../api/front-end.ts';
import type { MigrationMounts, MountedMigration } from '../api/migration-mounts.ts';
import { pluginStopMs } from './life-limits.ts';
import { describe } from '../load/load-module.ts';
import type { LoadedPlugin } from '../load/load-plugin.ts';
import type { Manifest } from '../load/manifest.ts';
import type { Failure } from './status/plugin-status.ts';
import type { PluginLogger } from '../api/plugin.ts';
import type { ReconcilerMounts } from '../api/reconciler-mounts.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

/** Returns the reasons why the given version of a plugin cannot replace a newer version. */
export type StoredVersionProblems = (plugin: {
  readonly types: readonly ResourceType[];
  readonly version: string | undefined;
}) => Promise<readonly string[]>;

/** Records the declarations of types in the log. */
export type TypeDeclarer = {
  /** Resolves when the declarations are recorded, or when this node must not record them. */
  declare(types: readonly ResourceType[]): Promise<void>;
  /** Returns whether the declaration of another node is in force. This node then writes no objects of the type. */
  isOther(type: ResourceType): boolean;
};

/** Returns a message if code of a plugin does not return for a stored object. */
export type EndlessCode = (plugin: {
  readonly name: string;
  readonly types: readonly ResourceType[];
  readonly migrations: readonly MountedMigration[];
}) => Promise<string | undefined>;

export type IncarnationDependencies = {
  readonly registry: TypeRegistry;
  readonly routes: RouteMounts;
  readonly reconcilers: ReconcilerMounts;
  readonly migrations: MigrationMounts;
  readonly frontEnds?: FrontEndMounts | undefined;
  readonly routeOwners: RouteOwners;
  readonly buildIndexes: (type: ResourceType, onProgress: BuildProgress) => Promise<Unindexed>;
  readonly closeWatches: (type: TypeKey) => void;
  /** If undefined, declarations are not recorded, and every node may write objects. */
  readonly declarer?: TypeDeclarer;
  /** Finds the reasons why older files cannot replace newer files. If undefined, older files are always accepted. */
  readonly storedVersionProblems?: StoredVersionProblems;
  /** Checks the code in a plugin folder. If undefined, such code is not checked. */
  readonly endlessCode?: EndlessCode;
  /** Reports the `process` listeners that a stopped plugin did not remove. */
  readonly reportLeftListeners: (plugin: string) => void;
  readonly clock: Clock;
  readonly domain: string;
  readonly log: PluginLogger;
};

/** A loaded version of a plugin's files. */
export type Loaded = {
  readonly plugin: string;
  readonly bundled: boolean;
  readonly digest: string | undefined;
  readonly manifest: Manifest;
  readonly loaded: LoadedPlugin;
};

/** One load of a plugin's code with all of its registrations, from `registerTypes` to `release`. */
export class Incarnation {
  readonly is: Loaded;
  readonly #dependencies: IncarnationDependencies;
  readonly #registered: ResourceType[] = [];
  areIndexesBuilt = false;
  /** The stored objects for which an index function fails, by type. Types without failures have no entry. */
  readonly unindexed = new Map<TypeKey, Unindexed>();

  constructor(loaded: Loaded, dependencies: IncarnationDependencies) {
    this.is = loaded;
    this.#dependencies = dependencies;
  }

  /** Registers the types in one turn, so that no plugin can register a type after the check for conflicts. */
  registerTypes(): Failure | undefined {
    const { plugin, loaded } = this.is;
    const { registry } = this.#dependencies;
    const conflicts = typeConflicts(loaded.types, plugin, registry);
    if (conflicts.length > 0) return { reason: 'TypesRefused', message: conflicts.join('; '), isTransient: true };
    for (const type of loaded.types) {
      const registered = registry.register(type);
      if (!registered.ok)
        return { reason: 'TypesRefused', message: `type ${type.key} is still registered for ${registered.owner}` };
      this.#registered.push(type);
    }
    return undefined;
  }

  /**
   * Announces the routes. The types of all plugins that start together must already be registered, because a route must
   * not be in another plugin's group.
   */
  announceRoutes(): Failure | undefined {
    const {
      plugin,
      bundled,
      loaded: { definition },
    } = this.is;
    const { routes, routeOwners, registry, domain } = this.#dependencies;
    const conflicts = routeConflicts(definition, { plugin, bundled, domain }, { registry, routeOwners });
    if (conflicts.length > 0) return { reason: 'RoutesRefused', message: conflicts.join('; '), isTransient: true };
    try {
      routes.announce(plugin, definition);
    } catch (error) {
      return { reason: 'RoutesRefused', message: describe(error) };
    }
    for (const { shape } of shapesOf(definition)) routeOwners.set(shape, plugin);
    return undefined;
  }

  /**
   * Builds the indexes of all types, and then records the declarations of the types. `onPercent` receives the progress
   * over all types. Returns a failure if an index cannot be built, or if the files are older than the stored objects.
   */
  async buildIndexes(onPercent: (percent: number) => void): Promise<Failure | undefined> {
    const endless = await this.#endlessCode();
    if (endless !== undefined) return endless;
    const count = this.#registered.length;
    try {
      for (const [index, type] of this.#registered.entries()) {
        const unindexed = await this.#dependencies.buildIndexes(type, (done, total) => {
          onPercent(Math.floor((100 * (index + Math.min(1, done / Math.max(1, total)))) / count));
        });
        if (unindexed.count > 0) this.unindexed.set(type.key, unindexed);
      }
    } catch (error) {
      return { reason: 'IndexesFailed', message: `could not build the plugin's indexes: ${describe(error)}` };
    }
    const failure = await this.#olderThanObjects();
    if (failure !== undefined) return failure;
    await this.hasOwnDeclarations();
    this.areIndexesBuilt = true;
    return undefined;
  }

  /** Refuses files in a plugin folder by the same check as an install of a package. */
  async #endlessCode(): Promise<Failure | undefined> {
    const { plugin: name, loaded } = this.is;
    const types = this.#registered.filter(({ source }) => source === 'folder');
    const { migrations } = loaded.definition;
    const message =
      types.length === 0 ? undefined : await this.#dependencies.endlessCode?.({ name, types, migrations });
    return message === undefined ? undefined : { reason: 'EndlessCode', message };
  }

  /**
   * Refuses older files in a plugin folder by the same rules as an install of an older package. The declarations of the
   * newer files then remain in force.
   */
  async #olderThanObjects(): Promise<Failure | undefined> {
    const { manifest } = this.is;
    const types = this.#registered.filter(({ source }) => source === 'folder');
    const problems = await this.#dependencies.storedVersionProblems?.({
      types,
      version: manifest.version,
    });
    return problems === undefined || problems.length === 0
      ? undefined
      : { reason: 'VersionsMissing', message: problems.join('; ') };
  }

  /**
   * Records the declarations of the plugin's types if necessary, and returns whether these declarations are in force.
   * Without declarations in force, the objects that the plugin ships are not applied.
   */
  async hasOwnDeclarations(): Promise<boolean> {
    const { declarer } = this.#dependencies;
    await declarer?.declare(this.#registered);
    return !this.#registered.some((type) => declarer?.isOther(type) === true);
  }

  /** Returns the API groups of all types and routes of the plugin. */
  groups(): ReadonlySet<string> {
    const {
      types,
      definition: { routes, sockets },
    } = this.is.loaded;
    return new Set([
      ...types.map(({ group }) => group),
      ...[...routes, ...sockets].map(({ path }) => path.split('/')[2] ?? ''),
    ]);
  }

  /**
   * Serves the types and routes, and starts the migrations and reconcilers. `cause` is the event that started this
   * code.
   */
  serve(cause: CausingEvent | undefined): void {
    const {
      plugin,
      manifest: { version },
      loaded: { definition, frontEnd },
    } = this.is;
    for (const type of this.#registered) this.#dependencies.registry.serve(type.key);
    this.#dependencies.routes.mount(plugin, definition);
    this.#dependencies.migrations.mount(plugin, definition.migrations, cause);
    this.#dependencies.reconcilers.mount(plugin, definition.reconcilers);
    if (frontEnd?.ok === true) this.#dependencies.frontEnds?.mount(plugin, version, frontEnd.frontEnd);
    else this.#dependencies.frontEnds?.unmount(plugin);
    this.#dependencies.registry.clearReloading(plugin);
  }

  /**
   * Removes all registrations but the front end, ends watches and calls the plugin's `stop`. The plugin's objects are
   * not removed. The front end stays until the plugin has started again, so that a reload does not remove its pages.
   */
  async release(): Promise<void> {
    const { plugin } = this.is;
    const { registry, reconcilers, migrations, routes, routeOwners, closeWatches } = this.#dependencies;
    // Unmounts reconcilers and migrations first, so that no new step starts. Running steps may continue until their
    // time limit.
    const quiet = Promise.all([reconcilers.unmount(plugin), migrations.unmount(plugin)]);
    routes.unmount(plugin);
    for (const [shape, owner] of routeOwners) if (owner === plugin) routeOwners.delete(shape);
    for (const type of this.#registered.splice(0)) {
      registry.remove(type.key);
      closeWatches(type.key);
    }
    await quiet;
    await this.end();
  }

  /**
   * Calls the plugin's `stop`, which should end the plugin's timers and listeners. `stop` is also called for a plugin
   * that was never served, because the plugin's module ran.
   */
  async end(): Promise<void> {
    const {
      plugin,
      loaded: {
        definition: { stop },
      },
    } = this.is;
    if (stop !== undefined) await this.#stop(stop);
    this.#dependencies.reportLeftListeners(plugin);
  }

  async #stop(stop: () => unknown): Promise<void> {
    const { plugin } = this.is;
    const { clock, log } = this.#dependencies;
    await new Promise<void>((resolve) => {
      const timer = clock.after(pluginStopMs, () => {
        const message = 'the stop function of a plugin did not return in time; the plugin stops nevertheless';
        log.error(message, { plugin, limitMs: pluginStopMs });
        resolve();
      });
      Promise.resolve()
        .then(stop)
        .catch((error: unknown) => {
          const message = 'the stop function of a plugin threw an error; the plugin stops nevertheless';
          log.error(message, { plugin, error: describe(error) });
        })
        .finally(() => {
          timer.cancel();
          resolve();
        })
        .catch(() => undefined);
    });
  }
}
