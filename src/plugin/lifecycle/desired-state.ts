import type { HostedPlugin } from './hosted-plugin.ts';
import { dependencyVerdict } from './plugin-dependencies.ts';
import type { PluginObjects, DesiredPlugin } from '../objects/plugin-objects.ts';
import type { DesiredState } from './plugin-state.ts';

export type DesiredStatesDependencies = {
  readonly objects: PluginObjects;
  /** The plugins that the operator disabled on this node. */
  readonly disabledPlugins: ReadonlySet<string>;
  /** All plugins of this node. */
  readonly plugins: ReadonlyMap<string, HostedPlugin>;
};

/** Computes the desired state of each plugin from the plugin's object, files and dependencies. */
export class DesiredStates {
  readonly #objects: PluginObjects;
  readonly #disabledPlugins: ReadonlySet<string>;
  readonly #plugins: ReadonlyMap<string, HostedPlugin>;

  constructor({ objects, disabledPlugins, plugins }: DesiredStatesDependencies) {
    this.#objects = objects;
    this.#disabledPlugins = disabledPlugins;
    this.#plugins = plugins;
  }

  /**
   * Returns whether the plugin is enabled. The operator can disable a plugin on this node. Otherwise, the Plugin object
   * must be enabled and not marked for deletion. Without an object, `enabled` in the manifest decides.
   */
  isEnabled(plugin: HostedPlugin): boolean {
    if (this.#disabledPlugins.has(plugin.name)) return false;
    const desired = this.#objects.desired(plugin.name);
    return desired === undefined ? plugin.manifest?.enabled !== false : desired.enabled && !desired.isDeleted;
  }

  of(plugin: HostedPlugin): DesiredState {
    const desired = this.#objects.desired(plugin.name);
    if (this.#isDeleted(plugin, desired)) return { kind: 'forget' };
    if (desired?.isDeleted === true) return { kind: 'uninstall' };
    if (!this.isEnabled(plugin))
      return {
        kind: 'off',
        failure: this.#disabledPlugins.has(plugin.name)
          ? { reason: 'KeptOff', message: 'disabled on this server: PLUGINS_DISABLED contains the name of the plugin' }
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

  /** Records in `plugin` the present state of the Plugin object. Returns the desired state in this object. */
  observe(plugin: HostedPlugin): DesiredPlugin | undefined {
    const desired = this.#objects.desired(plugin.name);
    plugin.observe({ seen: seenOf(desired), uid: desired?.uid, generation: desired?.generation });
    return desired;
  }

  /** Returns whether the plugin's object was deleted and replaced by a new object of the same name. */
  isAnother({ uid }: HostedPlugin, desired: DesiredPlugin): boolean {
    return uid !== undefined && desired.uid !== uid;
  }

  /**
   * Returns whether the plugin's object was deleted, even if a new object has the same name. Also returns true for a
   * plugin that has neither an object nor a folder.
   */
  #isDeleted(plugin: HostedPlugin, desired: DesiredPlugin | undefined): boolean {
    return desired === undefined ? plugin.hadObject || plugin.folder === undefined : this.isAnother(plugin, desired);
  }

  /** Returns a text that changes whenever the plugin's files or the generation of the plugin's object change. */
  fingerprint(plugin: HostedPlugin): string {
    const generation = JSON.stringify(this.#objects.desired(plugin.name)?.generation ?? null);
    return `${plugin.files?.digest ?? 'none'} ${generation}`;
  }
}

/** Returns a text that changes whenever the desired state in a Plugin object may have changed. */
export function seenOf(desired: DesiredPlugin | undefined): string {
  if (desired === undefined) return 'none';
  const { uid = null, generation = null, isDeleted } = desired;
  return `${JSON.stringify(uid)} ${JSON.stringify(generation)} ${String(isDeleted)}`;
}
