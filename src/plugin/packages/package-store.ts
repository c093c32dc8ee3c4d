import { isObject } from '../../base/guards.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';

/** The package of a plugin: the SHA-256 (hex) of the uploaded archive, and its size. */
export type PackageRef = { readonly digest: string; readonly bytes: number };

/** Stores packages. The log has them, so every node does; unpacked folders are only a cache. */
export type PackageStore = {
  /** Resolves once the package is durable in the log. A stored package is not written again. */
  keep(archive: Uint8Array): Promise<PackageRef>;
  /**
   * The unpacked files on this node, unpacked from the log if necessary; concurrent callers share the work. Rejects
   * with `PackageUnreadableError` if the log does not have the whole package.
   */
  folderOf(ref: PackageRef): Promise<PluginFolder>;
};

/** The log does not have the package, or has different content: retrying does not help. */
export class PackageUnreadableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PackageUnreadableError';
  }
}

/** The package that a `Plugin` object names; undefined for a plugin in a plugin folder. */
export function packageOf(plugin: JsonObject): PackageRef | undefined {
  const spec = plugin['spec'];
  const named = isObject(spec) ? spec['package'] : undefined;
  if (!isObject(named)) return undefined;
  const { digest, bytes } = named;
  return isDigest(digest) && typeof bytes === 'number' ? { digest, bytes } : undefined;
}

/** The `Plugin` object of a packaged manifest, applied at the install and at every start. */
export function withPackage(plugin: JsonObject, { digest, bytes }: PackageRef): JsonObject {
  const spec = plugin['spec'];
  return { ...plugin, spec: { ...(isObject(spec) ? spec : {}), package: { digest, bytes } } };
}

function isDigest(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/u.test(value);
}
