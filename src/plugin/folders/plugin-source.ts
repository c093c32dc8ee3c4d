import { describe } from '../load/load-module.ts';
import { readManifestText } from '../load/manifest.ts';
import type { HostedPlugin } from '../lifecycle/hosted-plugin.ts';
import type { PackageRef, PackageStore } from '../packages/package-store.ts';
import { readManifest } from './plugin-folder.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';

export type PluginSourceDependencies = {
  readonly domain: string;
  readonly packages?: PackageStore | undefined;
};

const missingFolder =
  'no folder of PLUGINS_DIRS contains this plugin: restore the folder of the plugin, or uninstall the plugin';

/**
 * Finds the plugin's present files, and reads a changed manifest. Returns a failure if the plugin has no files. Also
 * returns a failure if the manifest is unreadable or contains another plugin name.
 */
export async function refreshFiles(
  plugin: HostedPlugin,
  ref: PackageRef | undefined,
  dependencies: PluginSourceDependencies,
): Promise<Failure | undefined> {
  const failure = await findFiles(plugin, ref, dependencies);
  if (plugin.files === undefined)
    return (
      failure ?? {
        reason: 'FolderMissing',
        message: plugin.folder === undefined ? missingFolder : "the plugin's folder has no plugin.yaml",
      }
    );
  if (plugin.hasPresentManifest) return undefined;
  const { folder, digest } = plugin.files;
  const decoded = readManifestText(await readManifest(folder), dependencies.domain);
  if (!decoded.ok) return { reason: 'ManifestUnreadable', message: decoded.problem };
  if (decoded.manifest.name !== plugin.name)
    return {
      reason: 'ManifestUnreadable',
      message: `plugin.yaml: metadata.name is ${decoded.manifest.name}, but must be ${plugin.name}`,
    };
  plugin.useManifest(decoded.manifest, digest);
  return undefined;
}

/** Finds the plugin's files. The package that the Plugin object references takes precedence over a folder. */
async function findFiles(
  plugin: HostedPlugin,
  ref: PackageRef | undefined,
  { packages }: PluginSourceDependencies,
): Promise<Failure | undefined> {
  if (ref === undefined) {
    plugin.useFiles(plugin.folderFiles);
    return undefined;
  }
  if (plugin.files?.digest === ref.digest) return undefined;
  plugin.useFiles(undefined);
  if (packages === undefined) return { reason: 'PackageUnreadable', message: 'this server does not support packages' };
  try {
    plugin.useFiles({ folder: await packages.folderOf(ref), digest: ref.digest });
    return undefined;
  } catch (error) {
    return { reason: 'PackageUnreadable', message: `could not read the plugin's package: ${describe(error)}` };
  }
}
