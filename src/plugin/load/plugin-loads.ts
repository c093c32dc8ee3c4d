import type { HostedPlugin } from '../lifecycle/hosted-plugin.ts';
import { Incarnation, type IncarnationDependencies } from '../lifecycle/incarnation.ts';
import { loadPlugin, type LoadDependencies } from './load-plugin.ts';
import type { Loading } from './loading.ts';
import type { PluginObjects, DesiredPlugin } from '../objects/plugin-objects.ts';
import type { DeclarationSource } from '../../resource/type/declaration.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';

export type PluginLoadsDependencies = LoadDependencies &
  IncarnationDependencies & {
    readonly objects: Pick<PluginObjects, 'desired'>;
    readonly enqueue: (plugin: HostedPlugin) => void;
  };

export type TakenModule =
  { readonly ok: true; readonly incarnation: Incarnation } | { readonly ok: false; readonly failure: Failure };

/**
 * Loads the modules of plugins. A load continues during the reconciliation of its plugin, so that a slow module does
 * not delay changes of the desired state.
 */
export class PluginLoads {
  readonly #dependencies: PluginLoadsDependencies;

  constructor(dependencies: PluginLoadsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Starts to load the module, unless the files are already loading. Does not register types and routes. Returns
   * undefined if the plugin has no files or no manifest.
   */
  begin(plugin: HostedPlugin): Loading | undefined {
    const { files, manifest, module } = plugin;
    const { failedLoads, loading: before } = module;
    if (files === undefined || manifest === undefined) return undefined;
    if (before?.digest === files.digest) return before;
    this.#end(plugin);
    const { folder, digest } = files;
    const address = `${digest.slice(0, 16)}${failedLoads === 0 ? '' : `-${String(failedLoads)}`}`;
    const version = folder.bundled && failedLoads === 0 ? undefined : address;
    const desired = this.#dependencies.objects.desired(plugin.name);
    const done = loadPlugin(
      {
        folder,
        manifest,
        version,
        origin: {
          kind: 'kept',
          digest,
          source: sourceOf(files, desired),
          generation: desired?.generation,
        },
      },
      this.#dependencies,
    );
    const loading: Loading = { digest, bundled: folder.bundled, manifest, done, isDone: false };
    module.begin(loading);
    void done.then(() => {
      loading.isDone = true;
      // If no reconcile step waits for this load, enqueues the plugin, so that a step takes the result.
      if (module.loading === loading && !module.isAwaited) this.#dependencies.enqueue(plugin);
    });
    return loading;
  }

  /**
   * Waits for the load of the module, and returns the loaded code or the failure. Returns undefined if nothing can be
   * loaded, or if the plugin is enqueued again before the load ends.
   */
  async take(plugin: HostedPlugin): Promise<TakenModule | undefined> {
    const loading = this.begin(plugin);
    if (loading === undefined) return undefined;
    const load = await plugin.module.waitFor(loading);
    if (load === undefined) return undefined;
    plugin.module.end();
    return load.ok
      ? { ok: true, incarnation: this.#incarnationOf(plugin, loading, load.loaded) }
      : { ok: false, failure: this.#failed(plugin, load.failure) };
  }

  /**
   * Drops the load of a plugin that should not run. For a plugin that is only disabled (`isOff`), an incomplete load
   * continues, because the plugin may soon be enabled again.
   */
  drop(plugin: HostedPlugin, isOff: boolean): void {
    if (!isOff || plugin.module.loading?.isDone === true) this.#end(plugin);
  }

  #end(plugin: HostedPlugin): void {
    const loading = plugin.module.end();
    void loading?.done.then(async (load) => {
      if (load.ok) await this.#incarnationOf(plugin, loading, load.loaded).end();
      else this.#failed(plugin, load.failure);
    });
  }

  #failed(plugin: HostedPlugin, failure: Failure): Failure {
    plugin.module.countFailure();
    this.#dependencies.reportLeftListeners(plugin.name);
    return failure;
  }

  #incarnationOf(
    { name: plugin }: HostedPlugin,
    { bundled, digest, manifest }: Loading,
    loaded: Incarnation['is']['loaded'],
  ): Incarnation {
    return new Incarnation({ plugin, bundled, digest, manifest, loaded }, this.#dependencies);
  }
}

function sourceOf(
  { folder, digest }: NonNullable<HostedPlugin['files']>,
  desired: DesiredPlugin | undefined,
): DeclarationSource {
  if (folder.bundled) return 'platform';
  return desired?.package?.digest === digest ? 'package' : 'folder';
}
