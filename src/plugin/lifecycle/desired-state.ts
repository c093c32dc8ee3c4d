import type { HostedPlugin } from './hosted-plugin.ts';
import { dependencyVerdict } from './plugin-dependencies.ts';
import type { PluginObjects, DesiredPlugin } from '../objects/plugin-objects.ts';
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

  /** Whether the object enables the plugin; without an object, the manifest decides. */
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
  observe(plugin: HostedPlugin): DesiredPlugin | undefined {
    const desired = this.#objects.desired(plugin.name);
    plugin.observe({ seen: seenOf(desired), uid: desired?.uid, generation: desired?.generation });
    return desired;
  }

  /** Whether the plugin's object was deleted and a new one of the same name exists. */
  isAnother({ uid }: HostedPlugin, desired: DesiredPlugin): boolean {
    return uid !== undefined && desired.uid !== uid;
  }

  /** Whether the plugin's object was deleted, or the plugin has neither object nor folder. */
  #isDeleted(plugin: HostedPlugin, desired: DesiredPlugin | undefined): boolean {
    return desired === undefined ? plugin.hadObject || plugin.folder === undefined : this.isAnother(plugin, desired);
  }

  /** A text that differs whenever the plugin's files or its object do. */
  fingerprint(plugin: HostedPlugin): string {
    const generation = JSON.stringify(this.#objects.desired(plugin.name)?.generation ?? null);
    return `${plugin.files?.digest ?? 'none'} ${generation}`;
  }
}

/** A text that changes whenever the desired state may have changed. */
export function seenOf(desired: DesiredPlugin | undefined): string {
  if (desired === undefined) return 'none';
  const { uid = null, generation = null, isDeleted } = desired;
  return `${JSON.stringify(uid)} ${JSON.stringify(generation)} ${String(isDeleted)}`;
}
