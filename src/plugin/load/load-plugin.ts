import type { Clock } from '../../base/clock.ts';
import { UnreturnedError, withinTime } from '../packages/limited-steps.ts';
import { migrationStepMsMax } from '../../limits/plugins.ts';
import { interruptedConversion } from '../../resource/type/versions/convert.ts';
import type { JsonValue } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { DeclaredBy, DeclarationSource } from '../../resource/type/declaration.ts';
import type { Declarer } from '../../resource/type/type-declaration.ts';
import type { CodeFolders } from '../errors/error-attribution.ts';
import type { Definition } from './definition.ts';
import { checkExport, type CheckedExport } from './check-export.ts';
import type { LoadMarks } from './load-marks.ts';
import { describe, loadModule, installModuleHooks } from './load-module.ts';
import { findFatal } from './load-trial.ts';
import { platformProblem, type Manifest } from './manifest.ts';
import { readFrontEnd, type FrontEndRead } from '../folders/front-end-files.ts';
import { mainPath, readObjectFiles, readPackageVersion, type PluginFolder } from '../folders/plugin-folder.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';
import type { PluginLogger } from '../api/plugin.ts';
import { decodeShippedObjects, type ShippedObject } from '../objects/shipped-objects.ts';

/** A plugin after its files were read, run and checked, and before it is registered. */
export type LoadedPlugin = {
  readonly types: readonly ResourceType[];
  readonly definition: Definition;
  readonly objects: readonly ShippedObject[];
  /** The front end for the console, or the reason why it cannot be served; undefined for a plugin without one. */
  readonly frontEnd?: FrontEndRead | undefined;
  /** The version in the plugin's package.json. */
  readonly packageVersion?: string | undefined;
};

export type PluginLoad =
  { readonly ok: true; readonly loaded: LoadedPlugin } | { readonly ok: false; readonly failure: Failure };

/**
 * The origin of the files. The module of an `upload` is first tried in a separate process. For files of installed
 * plugins and plugin folders (`kept`), a marker file exists while the module loads.
 */
export type LoadOrigin =
  | { readonly kind: 'upload' }
  | {
      readonly kind: 'kept';
      readonly digest: string;
      readonly source: DeclarationSource;
      readonly generation: JsonValue | undefined;
    };

export type LoadRequest = {
  readonly folder: PluginFolder;
  readonly manifest: Manifest;
  readonly version: string | undefined;
  readonly origin: LoadOrigin;
};

export type LoadDependencies = {
  readonly clock: Clock;
  readonly domain: string;
  readonly platformVersion: string;
  readonly loggerOf: (plugin: string) => PluginLogger;
  /** The folders with code that was run. A plugin's folder is added before the plugin's module runs. */
  readonly suspects: CodeFolders;
  readonly loadMarks: LoadMarks;
};

/** Loads and checks a plugin. Registers nothing, and writes nothing to the event log. Never rejects. */
export async function loadPlugin(request: LoadRequest, dependencies: LoadDependencies): Promise<PluginLoad> {
  try {
    return await load(request, dependencies);
  } catch (error) {
    // An export is a foreign object: a getter or a proxy may throw on any access.
    return failed('DefinitionRefused', describe(error));
  }
}

async function load(request: LoadRequest, dependencies: LoadDependencies): Promise<PluginLoad> {
  const { folder, manifest } = request;
  const { domain, platformVersion } = dependencies;
  const unfit = platformProblem(manifest, platformVersion);
  if (unfit !== undefined) return failed('PlatformVersion', unfit);
  const shipped = decodeShippedObjects(await readObjectFiles(folder), { plugin: manifest.name, domain });
  if (!shipped.ok) return failed('ObjectsRefused', shipped.problems.join('; '));
  const frontEnd = manifest.console === undefined ? undefined : await readFrontEnd(folder, manifest.console);
  // Refuses only a package. The front end in a plugin folder may be between two builds, and the plugin runs without the
  // front end.
  if (frontEnd?.ok === false && request.origin.kind === 'upload') return failed('ConsoleRefused', frontEnd.problem);
  const checked = await checkMain(request, dependencies);
  if (!checked.ok) return failed(checked.reason, checked.message);
  const { types, definition } = checked;
  return {
    ok: true,
    loaded: {
      types: request.origin.kind === 'upload' ? types.map(tried) : types,
      definition,
      objects: shipped.objects,
      frontEnd,
      packageVersion: await readPackageVersion(folder),
    },
  };
}

function declaredBy({ manifest: { version = '0.0.0' }, origin }: LoadRequest): DeclaredBy {
  return origin.kind === 'kept'
    ? { version, source: origin.source, code: origin.digest }
    : { version, source: 'package' };
}

/**
 * Returns the type without its declaration. With a declaration, a dry run would be refused if the event log has another
 * declaration of the type.
 */
function tried(type: ResourceType): ResourceType {
  return { ...type, declaration: undefined };
}

/** Runs and checks the main module. A plugin without a module has an empty definition. */
async function checkMain(request: LoadRequest, dependencies: LoadDependencies): Promise<CheckedExport> {
  const { folder, manifest } = request;
  const declarer: Declarer = {
    plugin: manifest.name,
    bundled: folder.bundled,
    domain: dependencies.domain,
    by: declaredBy(request),
  };
  if (manifest.main === undefined) return checkExport({}, declarer);
  const main = await mainPath(folder, manifest.main);
  return main.ok
    ? runMain(main.path, { request, declarer }, dependencies)
    : { ok: false, reason: 'MainRefused', message: main.problem };
}

type Run = {
  readonly request: LoadRequest;
  readonly declarer: Declarer;
};

/**
 * Runs the module and decodes its export. Does not run a module that ends or blocks the process, according to a trial
 * or a marker file.
 */
async function runMain(
  path: string,
  { request, declarer }: Run,
  dependencies: LoadDependencies,
): Promise<CheckedExport> {
  const {
    folder,
    manifest: { name },
    version,
    origin,
  } = request;
  const { domain, clock, loggerOf, suspects, loadMarks } = dependencies;
  const fatal =
    origin.kind === 'upload'
      ? await findFatal({ path, name, domain }, clock)
      : loadMarks.begin({ plugin: name, ...origin });
  if (fatal !== undefined) return { ok: false, ...fatal };
  if (!folder.bundled) installModuleHooks();
  suspects.add({ name, folder: folder.path, bundled: folder.bundled });
  try {
    const module = await loadModule(
      {
        path,
        folder: folder.path,
        version,
        context: { name, domain, log: loggerOf(name) },
      },
      clock,
    );
    if (!module.ok) return module;
    const check = (): CheckedExport => checkExport(module.exported, declarer, (stack) => suspects.placeOf(name, stack));
    // Only files in a plugin folder need the time limit. An upload was checked in the separate process, and an
    // installed package before its install.
    return declarer.by?.source === 'folder' ? checkWithinTime(check) : check();
  } finally {
    if (origin.kind === 'kept') loadMarks.end(name);
  }
}

/** Interrupts a getter, or a conversion of an example, that does not return. */
function checkWithinTime(check: () => CheckedExport): CheckedExport {
  try {
    return withinTime(check, migrationStepMsMax);
  } catch (error) {
    if (!(error instanceof UnreturnedError)) throw error;
    const conversion = interruptedConversion();
    const code = conversion === undefined ? 'code in the definition' : `the conversion ${conversion} of an example`;
    const message = `${code} did not return within ${String(migrationStepMsMax / 1_000)} s: it must always return`;
    return { ok: false, reason: 'EndlessCode', message };
  }
}

function failed(reason: string, message: string): PluginLoad {
  return { ok: false, failure: { reason, message } };
}
