import type { Leadership } from '../../read/leadership.ts';
import type { ChangeFeed } from '../../read/objects.ts';
import type { UniqueSteps } from '../../read/uniqueness.ts';
import type { ObjectCheckResults } from '../api/object-checks.ts';
import type { AppliedObjectsDependencies } from '../objects/applied-objects.ts';
import type { IncarnationDependencies } from './incarnation.ts';
import type { LoadDependencies } from '../load/load-plugin.ts';
import type { PackageStore } from '../packages/package-store.ts';
import type { PluginFoldersDependencies } from '../folders/plugin-folders.ts';
import type { PluginLogger } from '../api/plugin.ts';

export type PluginHostDependencies = LoadDependencies &
  Omit<IncarnationDependencies, 'routeOwners' | 'reportLeftListeners'> &
  Omit<AppliedObjectsDependencies, 'objects'> & {
    readonly changes: ChangeFeed;
    readonly leadership: Leadership;
    readonly log: PluginLogger;
    /** The unique indexes that are not enforced; undefined if unknown. */
    readonly unique?: UniqueSteps;
    /** The stored objects that break the schemas; undefined if the objects are not checked. */
    readonly checks?: ObjectCheckResults;
    readonly disabledPlugins: ReadonlySet<string>;
    /** Returns the paths of the platform's routes, which rules of roles may name. */
    readonly platformPaths?: () => readonly string[];
    /** The files of installed plugins. If undefined, plugins cannot be installed. */
    readonly packages?: PackageStore;
    readonly folders: PluginFoldersDependencies['roots'];
  };
