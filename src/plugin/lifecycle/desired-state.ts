import type { HostedPlugin } from './hosted-plugin.ts';
import { dependencyVerdict } from './plugin-dependencies.ts';
import type { PluginObjects, PluginWish } from '../objects/plugin-objects.ts';
import type { DesiredState } from './plugin-state.ts';

export type DesiredStatesDependencies = {
  readonly objects: PluginObjects;
  /** Plugins that the operator disabled on this node. */
  readonly disabledPlugins: ReadonlySet<string>;
  /** All plugins of this node. */
  readonly plugins: ReadonlyMap<string, HostedPlugin>;
};

/** The desired state of each plugin: by its object, its files and the plugins it needs. */
export class DesiredStates {
  readonly #objects: PluginObjects;
  readonly #disabledPlugins: ReadonlySet<string>;
  readonly #plugins: ReadonlyMap<string, HostedPlugin>;

  constructor({ objects, disabledPlugins, plugins }: DesiredStatesDependencies) {
    this.#objects = objects;
    this.#disabledPlugins = disabledPlugins;
    this.#plugins = plugins;
  }

  /** Whether the object enables it; without an object, the manifest. */
  isEnabled(plugin: HostedPlugin): boolean {
    if (this.#disabledPlugins.has(plugin.name)) return false;
    const wish = this.#objects.wish(plugin.name);
    return wish === undefined ? plugin.manifest?.enabled !== false : wish.enabled && !wish.isDeleted;
  }

  of(plugin: HostedPlugin): DesiredState {
    const wish = this.#objects.wish(plugin.name);
    if (this.#isDeleted(plugin, wish)) return { kind: 'gone' };
    if (wish?.isDeleted === true) return { kind: 'uninstall' };
    if (!this.isEnabled(plugin))
      return {
        kind: 'off',
        failure: this.#disabledPlugins.has(plugin.name)
          ? { reason: 'KeptOff', message: 'this server does not load it: PLUGINS_DISABLED contains its name' }
          : undefined,
      };
    const { refused, ownFailure } = plugin;
    if (refused !== undefined) return { kind: 'fail', failure: refused };
    if (ownFailure?.fingerprint === this.fingerprint(plugin)) return { kind: 'fail', failure: ownFailure.failure };
    const verdict = dependencyVerdict(
      plugin,
      (name) => this.#plugins.get(name),
      [...this.#plugins.values()].filter((other) => this.isEnabled(other)),
    );
    return verdict.kind === 'ready' ? { kind: 'run' } : verdict;
  }

  /** Records the present state of the plugin's object. */
  observe(plugin: HostedPlugin): PluginWish | undefined {
    const wish = this.#objects.wish(plugin.name);
    plugin.observe({ seen: seenOf(wish), uid: wish?.uid, generation: wish?.generation });
    return wish;
  }

  /** Its object was deleted, and a new one of the same name exists. */
  isAnother({ uid }: HostedPlugin, wish: PluginWish): boolean {
    return uid !== undefined && wish.uid !== uid;
  }

  /** Its object was deleted; or it has neither object nor folder. */
  #isDeleted(plugin: HostedPlugin, wish: PluginWish | undefined): boolean {
    return wish === undefined ? plugin.hadObject || plugin.folder === undefined : this.isAnother(plugin, wish);
  }

  /** Differs whenever the plugin's files or its object do. */
  fingerprint(plugin: HostedPlugin): string {
    return `${plugin.files?.digest ?? 'none'} ${JSON.stringify(this.#objects.wish(plugin.name)?.generation ?? null)}`;
  }
}

/** Changes whenever the desired state may have changed. */
export function seenOf(wish: PluginWish | undefined): string {
  return wish === undefined
    ? 'none'
    : `${JSON.stringify(wish.uid ?? null)} ${JSON.stringify(wish.generation ?? null)} ${String(wish.isDeleted)}`;
}
