import { HostedPlugin } from './hosted-plugin.ts';
import type { PluginFolders } from '../folders/plugin-folders.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

export type HostedPluginsDependencies = {
  readonly folders: PluginFolders;
  readonly registry: TypeRegistry;
  /** Returns whether the host already reconciles plugins. */
  readonly isOpen: () => boolean;
};

/** All plugins of this node, with the folders of their files. */
export class HostedPlugins {
  /** The plugins by name, in the order of discovery. */
  readonly #all = new Map<string, HostedPlugin>();
  readonly #folders: PluginFolders;
  readonly #registry: TypeRegistry;
  readonly #isOpen: () => boolean;

  constructor({ folders, registry, isOpen }: HostedPluginsDependencies) {
    this.#folders = folders;
    this.#registry = registry;
    this.#isOpen = isOpen;
  }

  get all(): ReadonlyMap<string, HostedPlugin> {
    return this.#all;
  }

  /** Returns the plugin of this name. Adds an unknown plugin, and assigns its folder. */
  ensure(name: string): HostedPlugin {
    const known = this.#all.get(name);
    if (known !== undefined) return known;
    const plugin = new HostedPlugin(name);
    this.#folders.readopt(name);
    this.place(plugin);
    this.#all.set(name, plugin);
    // Requests for unknown paths wait only for plugins that are found during the start.
    if (!this.#isOpen()) this.#registry.expectPlugin(name);
    return plugin;
  }

  /** Updates the folder of the plugin's files. */
  place(plugin: HostedPlugin): void {
    plugin.place(this.#folders.get(plugin.name));
  }

  /**
   * Removes a plugin. If its Plugin object was deleted (`hadObject`), the plugin's folder is ignored. The folder is no
   * longer ignored when its files change, or when `ensure` is called for the name.
   */
  remove(name: string, hadObject: boolean): void {
    this.#all.delete(name);
    if (hadObject) this.#folders.leaveOut(name);
  }
}
