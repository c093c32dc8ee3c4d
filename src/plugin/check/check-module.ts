import { pathToFileURL } from 'node:url';

import { stackOf } from '../../base/error-message.ts';
import { circleProblems } from '../../resource/references/reference-circles.ts';
import { groupOfKey } from '../../resource/type/index-entry.ts';
import { repeatedTypes } from '../registry/conflicts.ts';
import { compileType } from '../../resource/type/type-declaration.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { ConversionProblem } from '../../resource/type/versions/versioned-type.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
import { isObject } from '../../base/guards.ts';
import type { PluginLogger } from '../api/plugin.ts';
import { placeInStack, thrownPlace, withoutFolder } from '../errors/thrown-place.ts';
import { mainPath, type PluginFolder } from '../folders/plugin-folder.ts';
import { decodeDefinition, endpointProblems, type Definition } from '../load/definition.ts';
import { describe, runModule } from '../load/load-module.ts';
import type { Manifest } from '../load/manifest.ts';
import { declaringStack } from './declared-places.ts';
import { functionStack } from './function-place.ts';
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
  const declaredAt = (declared: unknown): Pick<PluginProblem, 'file' | 'line'> =>
    placeOf(placeInStack(declaringStack(declared) ?? '', [folder.path])) ?? { file: manifest.main, line: undefined };
  const decoded = decodeDefinition(exported);
  if (!decoded.ok)
    return {
      types: [],
      definition: undefined,
      problems: decoded.problems.map((text) => ({ ...declaredAt(namedIn(text, exported)), text })),
    };
  const { definition } = decoded;
  const declarer = { plugin: manifest.name, bundled: folder.bundled, domain };
  const compiled = definition.types.map((declaration) => ({ declaration, type: compileType(declaration, declarer) }));
  const types = compiled.flatMap(({ type }) => (type.ok ? [type.type] : []));
  const problems = [
    ...compiled.flatMap(({ declaration, type }) =>
      type.ok
        ? unknownTargets(type.type, types).map((text) => ({ ...declaredAt(declaration), text }))
        : type.problems.map((text) => ({
            ...(conversionPlace(type.conversions?.get(text), folder) ?? declaredAt(declaration)),
            text,
          })),
    ),
    ...repeatedTypes(types).map(({ type: repeated, text }) => {
      const found = compiled.find(({ type }) => type.ok && type.type === repeated)?.declaration;
      const isListedTwice = definition.types.indexOf(found) !== definition.types.lastIndexOf(found);
      return { ...declaredAt(isListedTwice ? exported : found), text };
    }),
    ...circleProblems(types, []).map((text) => {
      const found = compiled.find(({ type }) => type.ok && text.startsWith(`references: ${type.type.key} `));
      return { ...declaredAt(found?.declaration ?? exported), text };
    }),
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

/** Returns the references to missing types in groups of the plugin. The types in other groups are unknown here. */
function unknownTargets({ kind, references }: ResourceType, types: readonly ResourceType[]): readonly string[] {
  const groups = new Set(types.map(({ group }) => group));
  const keys = [...new Set(types.map(({ key }) => key))];
  return references
    .filter(({ to }) => groups.has(groupOfKey(to)) && !keys.includes(to))
    .map(({ field, to }) => `type ${kind}: references: ${field}: the type ${to} does not exist${otherWords(to, keys)}`);
}

/** Returns the place at which a conversion threw an error, otherwise the place of the conversion function. */
function conversionPlace(problem: ConversionProblem | undefined, { path }: PluginFolder): Place | undefined {
  if (problem === undefined) return undefined;
  return (
    placeOf(placeInStack(stackOf(problem.thrown) ?? '', [path])) ??
    placeOf(placeInStack(functionStack(problem.run), [path]))
  );
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

/**
 * Returns the part of the definition to which a problem belongs. The problem's text may begin with a path, as in
 * `controllers[0].routes[1].summary: …`. Returns the innermost part on this path with a recorded place. Returns the
 * whole definition if no part has a recorded place.
 */
function namedIn(text: string, exported: unknown): unknown {
  const [path = ''] = /^(?:[a-z]+\[[0-9]+\]\.?)+/u.exec(text) ?? [];
  const parts = [exported];
  for (const [, member = '', index = ''] of path.matchAll(/([a-z]+)\[([0-9]+)\]/gu)) {
    const whole = parts.at(-1);
    const list = isObject(whole) ? whole[member] : undefined;
    parts.push(Array.isArray(list) ? list[Number(index)] : undefined);
  }
  return parts.findLast((part) => declaringStack(part) !== undefined) ?? exported;
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
