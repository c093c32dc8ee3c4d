import { pathToFileURL } from 'node:url';

import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { PluginLogger } from '../api/plugin.ts';
import { declaringStack } from '../errors/declared-places.ts';
import { unknownTargets } from '../registry/conflicts.ts';
import { placeInStack, thrownPlace, withoutFolder } from '../errors/thrown-place.ts';
import { mainPath, type PluginFolder } from '../folders/plugin-folder.ts';
import { compileExport, type ExportProblem } from '../load/check-export.ts';
import { endpointProblems, type Definition } from '../load/definition.ts';
import { describe, runModule } from '../load/load-module.ts';
import type { Manifest } from '../load/manifest.ts';
import type { PluginProblem } from './plugin-problem.ts';

/** The valid parts of a plugin's module, and the problems of its other parts. */
export type CheckedModule = {
  readonly types: readonly ResourceType[];
  /** Undefined if the module fails or the definition is invalid. The types and routes are then unknown. */
  readonly definition: Definition | undefined;
  readonly problems: readonly PluginProblem[];
};

type Module = {
  readonly folder: PluginFolder;
  readonly manifest: Manifest;
  readonly domain: string;
};

/** A check prints only problems, so the log lines of the plugin are dropped. */
const unheard: PluginLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export async function checkModule(module: Module): Promise<CheckedModule> {
  const { folder, manifest, domain } = module;
  if (manifest.main === undefined) return checkExported({}, module);
  const main = await mainPath(folder, manifest.main);
  if (!main.ok)
    return failed({
      file: 'plugin.yaml',
      line: undefined,
      text: `${main.problem}; if spec.main names a compiled file, compile the plugin first`,
    });
  try {
    const context = { name: manifest.name, domain, log: unheard };
    const checked = checkExported(await runModule(pathToFileURL(main.path).href, context), module);
    await checked.definition?.stop?.();
    return checked;
  } catch (error) {
    const place = placeOf(await thrownPlace(error, { folder: folder.path, main: main.path }));
    const text = `the module failed: ${withoutFolder(describe(error), folder.path)}`;
    return failed({ file: place?.file ?? manifest.main, line: place?.line, text });
  }
}

function checkExported(exported: unknown, { folder, manifest, domain }: Module): CheckedModule {
  const placeOfAny = (stacks: ExportProblem['stacks']): Pick<PluginProblem, 'file' | 'line'> =>
    stacks.map((stack = '') => placeOf(placeInStack(stack, [folder.path]))).find((place) => place !== undefined) ?? {
      file: manifest.main,
      line: undefined,
    };
  const declaredAt = (declared: unknown): Pick<PluginProblem, 'file' | 'line'> =>
    placeOfAny([declaringStack(declared)]);
  const declarer = { plugin: manifest.name, bundled: folder.bundled, domain };
  const compiled = compileExport(exported, declarer);
  const located = compiled.problems.map(({ text, stacks }) => ({ ...placeOfAny(stacks), text }));
  const { definition } = compiled;
  if (definition === undefined) return { types: [], definition, problems: located };
  const types = compiled.types.map(({ type }) => type);
  const problems = [
    ...located,
    ...compiled.types.flatMap(({ type, declaration }) =>
      unknownTargets(type, types).map((text) => ({ ...declaredAt(declaration), text })),
    ),
    ...endpointProblems(definition, declarer, (group, version) => ownersOf(types, group, version)).map((text) => ({
      ...declaredAt(exported),
      text,
    })),
    ...definition.ignoredControllers.map((path) => ({
      ...declaredAt(exported),
      text: `the controller ${path} has no apiVersion and is ignored: add apiVersion: '<group>/<version>'`,
    })),
  ];
  return { types, definition, problems };
}

type GroupOwner = {
  readonly plugin: string;
  /** The types of one version of the group, by plural. */
  readonly types: ReadonlyMap<string, ResourceType>;
};

function ownersOf(types: readonly ResourceType[], group: string, version: string): readonly GroupOwner[] {
  const own = types.filter((type) => type.group === group);
  const [first] = own;
  if (first === undefined) return [];
  const ofVersion = own.filter((type) => type.version === version);
  return [{ plugin: first.plugin, types: new Map(ofVersion.map((type) => [type.plural, type])) }];
}

type Place = { readonly file: string; readonly line: number };

/** Parses ` (at <file>:<line>…)`, the form in which errors of plugins contain a place. */
function placeOf(shown: string): Place | undefined {
  const [, file, line] = /^ \(at (.+?):([0-9]+)/u.exec(shown) ?? [];
  return file === undefined ? undefined : { file, line: Number(line) };
}

function failed(problem: PluginProblem): CheckedModule {
  return { types: [], definition: undefined, problems: [problem] };
}
