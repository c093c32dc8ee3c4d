import { isObject } from '../../base/guards.ts';
import { delay, type Clock } from '../../base/clock.ts';
import type { Cause } from '../../command/event.ts';
import type { Rejection } from '../../command/rejection.ts';
import type { Subject } from '../../command/subject.ts';
import { pluginStartMs } from '../../limits/plugins.ts';
import { streamRevision } from '../../log/log.ts';
import type { ChangeFeed, ObjectReader, StoredObject } from '../../read/objects.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { JsonObject } from '../../resource/object/object.ts';
import { parseObject, type Applied } from '../objects/apply-object.ts';
import type { LoadedPlugin, PluginLoad } from '../load/load-plugin.ts';
import { readManifestText, type Manifest } from '../load/manifest.ts';
import type { Staged } from './package-folders.ts';
import { PackageNotKeptError, refOf } from './package-log.ts';
import { packageOf, type PackageRef } from './package-store.ts';
import type { Packages } from './packages.ts';
import { awaitReported } from './await-reported.ts';
import { EndlessCheckError, withReport, type UpgradeReport } from './upgrade-report.ts';
import { readManifest, type PluginFolder } from '../folders/plugin-folder.ts';

/** The members of the plugin host that an install uses. */
export type InstallHost = {
  /** Returns whether the plugin is in a plugin folder. Such a plugin cannot be installed from a package. */
  hasFolder(name: string): Promise<boolean>;
  /** Returns the conflicts of the types and routes of the plugin (named `plugin`) with the present types and routes. */
  conflicts(loaded: LoadedPlugin, plugin: string): readonly string[];
  /** Resolves when this node has reconciled the plugin, or after the timeout. */
  waitUntilReconciled(name: string, timeoutMs: number): Promise<unknown>;
};

/** Writes the `Plugin` object on behalf of the caller. */
export type WritePlugin = (manifest: Manifest, ref: PackageRef, by: WriteRequest) => Promise<Applied>;

/** A write that is refused if the object does not have the expected state. */
export type WriteRequest = InstallRequest & {
  readonly expects: 'absent' | { readonly uid: string };
};

export type InstallDependencies = {
  readonly domain: string;
  readonly packages: Packages;
  readonly host: InstallHost;
  readonly reader: Pick<ObjectReader, 'get'>;
  readonly changes: ChangeFeed;
  readonly pluginKey: TypeKey;
  readonly write: WritePlugin;
  readonly load: (folder: PluginFolder, manifest: Manifest) => Promise<PluginLoad>;
  /**
   * Returns the problems that prevent an install: stored objects in API versions that the plugin does not declare, or
   * invalid objects in the plugin's files.
   */
  readonly objectProblems: (manifest: Manifest, loaded: LoadedPlugin) => Promise<readonly string[]>;
  /** Compares the version in the package with the present version of the plugin, and checks the stored objects. */
  readonly report: (manifest: Manifest, loaded: LoadedPlugin) => Promise<UpgradeReport | EndlessCheckError>;
  /** Records the report in the status of the `Plugin` object. */
  readonly recordReport: (plugin: string, report: UpgradeReport) => Promise<void>;
  readonly clock: Clock;
};

/**
 * The caller and the options of an install or upgrade. A plugin applies the objects in the package with unlimited
 * rights. Thus a user with the right to install plugins has, in effect, all rights.
 */
export type InstallRequest = {
  readonly subject: Subject;
  readonly cause: Cause;
  /**
   * If true, the package is checked and not installed. The outcome contains the object that the install would store.
   */
  readonly dryRun: boolean;
};

export type InstallOutcome =
  | { readonly ok: true; readonly name: string; readonly plugin: Pick<StoredObject, 'bytes' | 'revision'> }
  | { readonly ok: false; readonly rejection: Rejection };

type Inspected = {
  readonly manifest: Manifest;
  readonly loaded: LoadedPlugin;
};
type Refused = Extract<InstallOutcome, { ok: false }>;

/**
 * Installs packages. A package is checked before the first write, so that a package with a problem adds no event and no
 * folder. The check runs the plugin's module.
 */
export class Installer {
  readonly #dependencies: InstallDependencies;
  /**
   * The plugins that this node is installing or upgrading. If two nodes install the same plugin, the second write is
   * refused, because the object then exists.
   */
  readonly #busy = new Set<string>();

  constructor(dependencies: InstallDependencies) {
    this.#dependencies = dependencies;
  }

  async install(archive: Uint8Array, request: InstallRequest): Promise<InstallOutcome> {
    return this.#staged(archive, async (staged, { manifest, loaded }) => {
      const { name } = manifest;
      if (await this.#dependencies.host.hasFolder(name))
        return conflict(
          `the plugin ${name} is in a plugin folder: replace the files in the folder to change the plugin`,
        );
      const stored = this.#stored(name);
      if (stored !== undefined) return conflict(presentWords(name, parseObject(stored.bytes)));
      return this.#put(archive, { staged, manifest, loaded }, { ...request, expects: 'absent' });
    });
  }

  /**
   * Replaces an installed plugin with another version. The version may be older, so that a failed upgrade can be
   * reverted.
   */
  async upgrade(name: string, archive: Uint8Array, request: InstallRequest): Promise<InstallOutcome> {
    const stored = this.#stored(name);
    if (stored === undefined) return refused('not-found', `plugins "${name}" not found`);
    const object = parseObject(stored.bytes);
    const metadata = isObject(object['metadata']) ? object['metadata'] : {};
    const { uid } = metadata;
    const present = packageOf(object);
    if (typeof uid !== 'string' || metadata['deletionTimestamp'] !== undefined)
      return conflict(`the plugin ${name} is being uninstalled`);
    if (present === undefined)
      return conflict(
        (await this.#dependencies.host.hasFolder(name))
          ? `the plugin ${name} is in a plugin folder: replace the files in the folder to change the plugin`
          : presentWords(name, object),
      );
    if (present.digest === refOf(archive).digest && !request.dryRun) return { ok: true, name, plugin: stored };
    return this.#staged(
      archive,
      async (staged, { manifest, loaded }) =>
        this.#put(archive, { staged, manifest, loaded }, { ...request, expects: { uid } }),
      name,
    );
  }

  async #staged(
    archive: Uint8Array,
    use: (staged: Extract<Staged, { ok: true }>, inspected: Inspected) => Promise<InstallOutcome>,
    expected?: string,
  ): Promise<InstallOutcome> {
    const staged = await this.#dependencies.packages.stage(archive);
    if (!staged.ok) return invalid(staged.problem);
    let name: string | undefined;
    try {
      const manifest = await this.#manifest({ path: staged.path, name: 'package', bundled: false });
      if ('ok' in manifest) return manifest;
      // The package may contain another plugin, so the name is checked before the module runs.
      if (expected !== undefined && manifest.name !== expected)
        return invalid(`the package contains the plugin ${manifest.name}, not ${expected}`);
      if (this.#busy.has(manifest.name))
        return conflict(`the plugin ${manifest.name} is already being installed or upgraded; retry later`);
      name = manifest.name;
      this.#busy.add(name);
      const loaded = await this.#load({ path: staged.path, name, bundled: false }, manifest);
      return 'ok' in loaded ? loaded : await use(staged, { manifest, loaded });
    } finally {
      if (name !== undefined) this.#busy.delete(name);
      await staged.discard();
    }
  }

  async #manifest(folder: PluginFolder): Promise<Manifest | Refused> {
    const decoded = readManifestText(await readManifest(folder), this.#dependencies.domain);
    return decoded.ok ? decoded.manifest : invalid(decoded.problem);
  }

  /**
   * Loads the plugin as at a start. Refuses the package if the load fails, or if the plugin has conflicts or problems.
   * Calls the plugin's `stop`, which should end the timers and listeners of the module.
   */
  async #load(folder: PluginFolder, manifest: Manifest): Promise<LoadedPlugin | Refused> {
    const load = await this.#dependencies.load(folder, manifest);
    if (!load.ok) return invalid(load.failure.message);
    const { loaded } = load;
    const conflicts = this.#dependencies.host.conflicts(loaded, manifest.name);
    const problems = conflicts.length > 0 ? [] : await this.#dependencies.objectProblems(manifest, loaded);
    await this.#end(loaded);
    if (conflicts.length > 0) return conflict(conflicts.join('; '));
    return problems.length === 0 ? loaded : invalid(problems.join('; '));
  }

  async #end({ definition: { stop } }: LoadedPlugin): Promise<void> {
    if (stop === undefined) return;
    const ending = Promise.resolve()
      .then(stop)
      .then(
        () => undefined,
        () => undefined,
      );
    await Promise.race([ending, delay(this.#dependencies.clock, pluginStartMs)]);
  }

  async #put(
    archive: Uint8Array,
    { staged, manifest, loaded }: Inspected & { readonly staged: Extract<Staged, { ok: true }> },
    by: WriteRequest,
  ): Promise<InstallOutcome> {
    const { packages, write, report, recordReport } = this.#dependencies;
    const planned = await write(manifest, refOf(archive), { ...by, dryRun: true });
    if (!planned.ok) return notWritten(planned);
    const reported = await report(manifest, loaded);
    if (reported instanceof EndlessCheckError) return invalid(reported.message);
    if (by.dryRun) return this.#planned(manifest.name, planned.bytes, reported);
    let ref: PackageRef;
    try {
      ref = await packages.keep(archive);
    } catch (error) {
      if (!(error instanceof PackageNotKeptError)) throw error;
      return {
        ok: false,
        rejection: {
          reason: 'unavailable',
          detail: 'the package is not stored completely, because an append to the event log failed; retry later',
          retryAfterSeconds: 1,
        },
      };
    }
    await packages.adopt(staged, ref);
    const applied = await write(manifest, ref, by);
    if (!applied.ok) return notWritten(applied);
    await recordReport(manifest.name, reported);
    return this.#settled(manifest.name);
  }

  /** Returns the object that the write would store, with the report. */
  #planned(name: string, bytes: Uint8Array | undefined, report: UpgradeReport): InstallOutcome {
    const stored = this.#stored(name);
    const object = bytes ?? stored?.bytes;
    if (object === undefined) return refused('not-found', `the plugin ${name} has been removed`);
    const plugin = Buffer.from(JSON.stringify(withReport(parseObject(object), report)));
    return {
      ok: true,
      name,
      plugin: { bytes: plugin, revision: stored?.revision ?? streamRevision(0) },
    };
  }

  async #settled(name: string): Promise<InstallOutcome> {
    await awaitReported(name, this.#dependencies);
    const plugin = this.#stored(name);
    return plugin === undefined
      ? refused('not-found', `the plugin ${name} has been removed`)
      : { ok: true, name, plugin };
  }

  #stored(name: string): StoredObject | undefined {
    const { reader, pluginKey } = this.#dependencies;
    return reader.get(pluginKey, name);
  }
}

/** Returns the message about a present plugin that is in no plugin folder and therefore blocks an install. */
function presentWords(name: string, object: JsonObject): string {
  const { metadata } = object;
  if (isObject(metadata) && metadata['deletionTimestamp'] !== undefined)
    return `the plugin ${name} is being uninstalled`;
  if (packageOf(object) !== undefined)
    return (
      `the plugin ${name} is already installed: "ledgerplane plugin upgrade ${name} <file>" ` +
      'replaces it with another version'
    );
  return (
    `the plugin ${name} was not installed from a package, and the plugin's folder is missing: restore the folder, ` +
    `or run "ledgerplane plugin uninstall ${name}" and then install the plugin again`
  );
}

function notWritten({ rejection, detail }: Extract<Applied, { ok: false }>): Refused {
  return { ok: false, rejection: rejection ?? { reason: 'unavailable', detail, retryAfterSeconds: 1 } };
}

function invalid(detail: string): Refused {
  return {
    ok: false,
    rejection: {
      reason: 'invalid',
      detail: `the package is refused: ${detail}`,
      violations: [{ pointer: '/file', detail }],
    },
  };
}

function conflict(detail: string): Refused {
  return refused('already-exists', detail);
}

function refused(reason: 'already-exists' | 'not-found', detail: string): Refused {
  return { ok: false, rejection: { reason, detail } };
}
