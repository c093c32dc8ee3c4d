import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import { isObject } from '../load/manifest.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';

/** Which package a plugin runs from: the SHA-256 (hex) of the archive as it was uploaded, and how long that is. */
export type PackageRef = { readonly digest: string; readonly bytes: number };

/** Where packages are kept. What is kept is in the log, so every node has it; the folders are only a cache of it. */
export type PackageStore = {
  /** Durable in the log once it resolves. Kept already, it is not written again. */
  keep(archive: Uint8Array): Promise<PackageRef>;
  /**
   * The unpacked files, on this node. Filled from the log where they are not there yet; whoever asks meanwhile shares the
   * unpacking. Rejects with `PackageUnreadableError` where the log does not hold the package whole.
   */
  folderOf(ref: PackageRef): Promise<PluginFolder>;
};

/** The log does not hold the package, or what it holds is another one: asked again it would say the same. */
export class PackageUnreadableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PackageUnreadableError';
  }
}

/** The package that a `Plugin` object names; undefined where its files lie in a folder of plugins. */
export function packageOf(plugin: JsonObject): PackageRef | undefined {
  const spec = plugin['spec'];
  const named = isObject(spec) ? spec['package'] : undefined;
  if (!isObject(named)) return undefined;
  const { digest, bytes } = named;
  return isDigest(digest) && typeof bytes === 'number' ? { digest, bytes } : undefined;
}

/** The `Plugin` object of a manifest that came in a package: what is applied at the install and at every start. */
export function withPackage(plugin: JsonObject, { digest, bytes }: PackageRef): JsonObject {
  const spec = plugin['spec'];
  return { ...plugin, spec: { ...(isObject(spec) ? spec : {}), package: { digest, bytes } } };
}

function isDigest(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/u.test(value);
}
