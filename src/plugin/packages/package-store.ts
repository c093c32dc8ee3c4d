import { isObject } from '../../base/guards.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';

/** The reference to a plugin's package: the SHA-256 (hex) of the uploaded archive, and the archive's size in bytes. */
export type PackageRef = {
  readonly digest: string;
  readonly bytes: number;
};

/** Stores packages in the log, where every node can read them. The unpacked folders on a node are a cache. */
export type PackageStore = {
  /** Writes a package. Resolves when the package is durable in the log. A stored package is not written again. */
  keep(archive: Uint8Array): Promise<PackageRef>;
  /**
   * Returns the folder with the unpacked files. The first call for a package in this process verifies the folder. If
   * the folder is missing or changed, the package is read from the log and unpacked. Rejects with
   * `PackageUnreadableError` if the package cannot be read or unpacked.
   */
  folderOf(ref: PackageRef): Promise<PluginFolder>;
};

/**
 * The log does not contain the whole package, or contains different content, or the package exceeds the limits. An
 * immediate retry is unlikely to succeed.
 */
export class PackageUnreadableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PackageUnreadableError';
  }
}

/**
 * Returns the reference to a package in a `Plugin` object; undefined without a valid reference, for example for a
 * plugin in a plugin folder.
 */
export function packageOf(plugin: JsonObject): PackageRef | undefined {
  const spec = plugin['spec'];
  const named = isObject(spec) ? spec['package'] : undefined;
  if (!isObject(named)) return undefined;
  const { digest, bytes } = named;
  return isDigest(digest) && typeof bytes === 'number' ? { digest, bytes } : undefined;
}

export function withPackage(plugin: JsonObject, { digest, bytes }: PackageRef): JsonObject {
  const spec = plugin['spec'];
  return { ...plugin, spec: { ...(isObject(spec) ? spec : {}), package: { digest, bytes } } };
}

function isDigest(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/u.test(value);
}
