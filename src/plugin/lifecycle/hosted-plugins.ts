import { HostedPlugin } from './hosted-plugin.ts';
import type { PluginFolders } from '../folders/plugin-folders.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

export type HostedPluginsDependencies = {
  readonly folders: PluginFolders;
  readonly registry: TypeRegistry;
  /** Whether plugins are reconciled already. */
  readonly isOpen: () => boolean;
};

/** All plugins of this node, and the folders of their files. */
export class HostedPlugins {
  /** In the order of discovery; names are unique. */
  readonly #all = new Map<string, HostedPlugin>();
  readonly #folders: PluginFolders;
  readonly #registry: TypeRegistry;
  readonly #isOpen: () => boolean;

  constructor({ folders, registry, isOpen }: HostedPluginsDependencies) {
    this.#folders = folders;
    this.#registry = registry;
    this.#isOpen = isOpen;
  }

  /** The plugins by name. */
  get all(): ReadonlyMap<string, HostedPlugin> {
    return this.#all;
  }

  /** Returns the plugin of this name. If there is none, adds one and assigns its folder. */
  ensure(name: string): HostedPlugin {
    const known = this.#all.get(name);
    if (known !== undefined) return known;
    const plugin = new HostedPlugin(name);
    this.#folders.readopt(name);
    this.place(plugin);
    this.#all.set(name, plugin);
    // For a plugin found later, missing paths need not wait.
    if (!this.#isOpen()) this.#registry.expectPlugin(name);
    return plugin;
  }

  /** Updates the folder of the plugin's files. */
  place(plugin: HostedPlugin): void {
    plugin.place(this.#folders.get(plugin.name));
  }

  /** Removes a plugin. `hadObject`: the plugin had an object, so its folder is then ignored. */
  remove(name: string, hadObject: boolean): void {
    this.#all.delete(name);
    if (hadObject) this.#folders.leaveOut(name);
  }
}
