import { randomUUID } from 'node:crypto';

import type { ObjectModels } from '../../../projections/object-models.ts';
import { Slices } from '../../base/slices.ts';
import { inSlices, type Steps } from '../../base/steps.ts';
import { must } from '../../base/unreachable.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { pluginPackageRoutes } from '../../http/platform/plugin-package-routes.ts';
import { problem, type Problem } from '../../http/problem.ts';
import { diskRetryAfterSeconds } from '../../limits/disk.ts';
import { parseObject } from '../../plugin/objects/apply-object.ts';
import type { PluginHost } from '../../plugin/lifecycle/host.ts';
import { Installer } from '../../plugin/packages/install.ts';
import { loadPlugin, type LoadDependencies, type LoadedPlugin } from '../../plugin/load/load-plugin.ts';
import { partsOf } from '../../plugin/packages/plugin-parts.ts';
import {
  deflateRatioMax,
  packageBytesMax,
  packageInstallsMax,
  packageUnpackedBytesMax,
} from '../../plugin/packages/package-limits.ts';
import { packageOf } from '../../plugin/packages/package-store.ts';
import type { Manifest } from '../../plugin/load/manifest.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { isSameDeclaration } from '../../resource/type/declaration.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { DeclarationReader } from '../../read/declarations.ts';
import type { StoredRows } from '../../command/upgrade/stored-rows.ts';
import type { MountedMigration } from '../../plugin/api/migration-mounts.ts';
import { findEndlessCode, reportUpgrade } from '../../plugin/packages/upgrade-report.ts';
import type { EndlessCode, StoredVersionProblems } from '../../plugin/lifecycle/incarnation.ts';
import { droppedVersionProblems, storedVersionProblems } from '../../plugin/packages/stored-versions.ts';
import { shippedProblems } from '../../plugin/objects/shipped-problems.ts';
import type { Core } from './core.ts';

export type InstallParts = Core & LoadDependencies & { readonly host: PluginHost };

export type Installs = {
  readonly routes: readonly PlatformRoute[];
  /**
   * Must be called when the wait for the start of the plugins has ended. Earlier install requests are refused with a
   * Retry-After time.
   */
  open(): Promise<void>;
};

export function composeInstalls(parts: InstallParts): Installs {
  const { packages, host, models, clock, domain, registry, disk, suspects } = parts;
  let isOpen = false;
  const installer = new Installer({
    domain,
    packages,
    host,
    clock,
    reader: models,
    changes: models,
    pluginKey: host.objects.key,
    load: async (folder, manifest) =>
      loadPlugin({ folder, manifest, version: undefined, origin: { kind: 'upload' } }, parts),
    objectProblems: async (manifest, loaded) => problemsOf(manifest, loaded, parts),
    report: async ({ name, version }, loaded) => {
      const { types, definition } = loaded;
      const present = registry.all().filter(({ type }) => type.plugin === name);
      const from = {
        version: host.objects.version(name),
        types: present.map(({ type }) => type),
        recorded: host.objects.memory(name).types,
      };
      const migrations = pendingIn(definition.migrations, name, host);
      const placeOf = (stack: string): string => suspects.placeOf(name, stack);
      const rows = writtenRows(models);
      const to = { version, types, migrations, parts: partsOf(loaded) };
      return reportUpgrade({ from, to }, { rows, clock, placeOf });
    },
    recordReport: async (plugin, report) => host.objects.recordUpgrade(plugin, report),
    write: async (manifest, ref, by) =>
      host.objects.ensure(manifest.name, manifest, ref, { ...by, decides: 'package' }),
  });
  const unready = (): string | undefined => (isOpen ? undefined : 'the plugins of this node are starting');
  const noRoom = (archiveBytes: number): Problem | undefined => {
    if (disk.claim(packageDiskBytes(archiveBytes))) return undefined;
    const detail = 'not enough free disk space for the package: it must fit above the reserve';
    return problem('insufficient-storage', detail, { retryAfterSeconds: diskRetryAfterSeconds });
  };
  return {
    routes: pluginPackageRoutes({
      domain,
      pluginType: () => must(registry.byKey(host.objects.key), 'the type Plugin is registered').type,
      installer,
      unready,
      noRoom,
      clock,
      archiveBytesMax: packageBytesMax,
      installsMax: packageInstallsMax,
    }),
    open: async () => {
      await packages.retain(await inSlices(namedPackages(host, models), new Slices(clock)));
      isOpen = true;
    },
  };
}

/** Composes the check whether stored objects have versions that a plugin lacks, for example after a downgrade. */
export function storedVersionsCheck({ models, clock }: Pick<InstallParts, 'models' | 'clock'>): StoredVersionProblems {
  return async (plugin) =>
    storedVersionProblems(plugin, {
      declarations: models.declarations,
      storedVersions: storedVersionsIn({ models, clock }),
    });
}

type EndlessCodeParts = Pick<InstallParts, 'models' | 'clock' | 'suspects'> & {
  /** The host, which exists when the first plugin starts. */
  readonly host: () => Pick<PluginHost, 'objects'>;
};

/**
 * Composes the check whether code in a plugin folder returns for each stored object. Code that the log has declared
 * before, and that has no migrations to run, is not checked again.
 */
export function endlessCodeCheck({ models, clock, suspects, host }: EndlessCodeParts): EndlessCode {
  return async ({ name, types, migrations }) => {
    const pending = pendingIn(migrations, name, host());
    if (pending.length === 0 && types.every((type) => isDeclared(type, models.declarations))) return undefined;
    const placeOf = (stack: string): string => suspects.placeOf(name, stack);
    const rows = writtenRows(models);
    return (await findEndlessCode({ types, migrations: pending }, { rows, clock, placeOf }))?.message;
  };
}

function isDeclared({ key, declaration }: ResourceType, declarations: DeclarationReader): boolean {
  const last = declarations.declared(key)?.declaration;
  return last !== undefined && declaration !== undefined && isSameDeclaration(last, declaration);
}

/** Returns the migrations that have not run. */
function pendingIn(
  migrations: readonly MountedMigration[],
  plugin: string,
  { objects }: Pick<PluginHost, 'objects'>,
): readonly MountedMigration[] {
  const done = new Set(objects.migrations(plugin).flatMap(({ id, phase }) => (phase === 'done' ? [id] : [])));
  return migrations.filter(({ id }) => !done.has(id));
}

/** The stored objects in the versions that their events have, as the server converts them after an upgrade. */
function writtenRows(models: ObjectModels): StoredRows {
  return {
    namesOf: (type, range) => models.namesOf(type, range),
    get: (type, name) => models.older.source(type, name),
  };
}

function storedVersionsIn({
  models,
  clock,
}: Pick<InstallParts, 'models' | 'clock'>): (type: TypeKey) => Promise<ReadonlySet<string>> {
  return async (type) => inSlices(models.older.storedVersions(type), new Slices(clock));
}

async function problemsOf(
  { name, version }: Manifest,
  loaded: LoadedPlugin,
  { models, clock, domain, execute, registry }: InstallParts,
): Promise<readonly string[]> {
  const stored = await storedVersionsCheck({ models, clock })({ types: loaded.types, version });
  const dependencies = { execute, registry, reader: models, clock, domain, uuid: randomUUID };
  const dropped =
    stored.length > 0 ? stored : await droppedVersionProblems(loaded.types, storedVersionsIn({ models, clock }));
  return dropped.length > 0 ? dropped : shippedProblems(name, loaded, dependencies);
}

/** Returns the disk bytes that a package may need: base64 in the log, and unpacked files. */
function packageDiskBytes(archiveBytes: number): number {
  return Math.ceil((archiveBytes * 4) / 3) + Math.min(archiveBytes * deflateRatioMax, packageUnpackedBytesMax);
}

/** Returns the digests of all packages that plugins name. Yields between objects. */
function* namedPackages(host: PluginHost, models: ObjectModels): Steps<ReadonlySet<string>> {
  const { key } = host.objects;
  const digests = new Set<string>();
  for (const page of models.pages(key, { selection: { labels: [], fields: [] }, sort: [] })) {
    for (const name of page) {
      const stored = models.get(key, name);
      const ref = stored === undefined ? undefined : packageOf(parseObject(stored.bytes));
      if (ref !== undefined) digests.add(ref.digest);
      yield;
    }
  }
  return digests;
}
