import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import type { ObjectModels } from '../projections/object-models.ts';
import type { Clock } from './base/clock.ts';
import type { Config } from './config.ts';
import type { Execute } from './execute.ts';
import type { PlatformRoute } from './http/fixed-routes.ts';
import { pluginPackageRoutes } from './http/plugin-package-routes.ts';
import type { EventLog } from './log/log.ts';
import { parseObject } from './plugin/apply-object.ts';
import type { PluginHost } from './plugin/host.ts';
import { Installer } from './plugin/install.ts';
import { loadPlugin, type LoadDependencies } from './plugin/load-plugin.ts';
import { packageBytesMax, packageInstallsMax } from './plugin/package-limits.ts';
import { packageOf } from './plugin/package-store.ts';
import { Packages } from './plugin/packages.ts';
import { shippedProblems } from './plugin/shipped-problems.ts';
import type { TypeRegistry } from './plugin/type-registry.ts';
import { privateDir } from './data-dir.ts';

export type PackageParts = {
  readonly config: Config;
  readonly eventLog: EventLog;
  readonly models: ObjectModels;
  readonly clock: Clock;
};

/** The packages of plugins that were installed: in the log, and unpacked in DATA_DIR. */
export async function openPackages({ config, eventLog, models, clock }: PackageParts): Promise<Packages> {
  const packages = new Packages(privateDir(join(config.dataDir, 'packages')), { log: eventLog, clock, uuid: randomUUID, lastEventTime: () => models.lastTime() });
  await packages.open();
  return packages;
}

export type InstallParts = LoadDependencies & {
  readonly execute: Execute;
  readonly registry: TypeRegistry;
  readonly packages: Packages;
  readonly host: PluginHost;
  readonly models: ObjectModels;
};

export type Installs = {
  readonly routes: readonly PlatformRoute[];
  /** Once the plugins of this node have settled: until then whoever installs one is told to come back. */
  open(): Promise<void>;
};

/** Where packages are taken in. */
export function composeInstalls(parts: InstallParts): Installs {
  const { packages, host, models, clock, domain, execute, registry } = parts;
  let isOpen = false;
  const installer = new Installer({
    domain, packages, host, clock, reader: models, changes: models, pluginKey: host.objects.key,
    load: async (folder, manifest) => loadPlugin({ folder, manifest, version: undefined }, parts),
    shippedProblems: async (plugin, loaded) => shippedProblems(plugin, loaded, { execute, registry, reader: models, clock, domain, uuid: randomUUID }),
    write: async (manifest, ref, by) => host.objects.ensure(manifest.name, manifest, ref, { ...by, decides: 'package' }),
  });
  const unready = (): string | undefined => (isOpen ? undefined : 'the plugins of this node are still being started');
  return {
    routes: pluginPackageRoutes({ domain, installer, unready, clock, archiveBytesMax: packageBytesMax, installsMax: packageInstallsMax }),
    open: async () => {
      await packages.retain(namedPackages(host, models));
      isOpen = true;
    },
  };
}

/** What no plugin names any more goes from the disk of this node; in the log it stays. */
function namedPackages(host: PluginHost, models: ObjectModels): readonly string[] {
  const { key } = host.objects;
  const names = models.names(key, { selection: { labels: [], fields: [] }, sort: [], window: { kind: 'all' } });
  return names.flatMap((name) => {
    const stored = models.get(key, name);
    const ref = stored === undefined ? undefined : packageOf(parseObject(stored.bytes));
    return ref === undefined ? [] : [ref.digest];
  });
}
