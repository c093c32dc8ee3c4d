import type { JsonObject } from '../../resource/object/object.ts';
import { isObject } from '../../base/guards.ts';
import { decodeManifest, manifestLine, platformProblem, type Manifest } from '../load/manifest.ts';
import { readManifest, readObjectFiles, readPackageVersion, type PluginFolder } from '../folders/plugin-folder.ts';
import { decodeShippedObjects } from '../objects/shipped-objects.ts';
import { yamlDocuments } from '../objects/yaml-documents.ts';
import { readFrontEnd } from '../folders/front-end-files.ts';
import type { PluginProblem } from './plugin-problem.ts';
import { yamlLine, yamlLines, type YamlLines } from '../objects/yaml-lines.ts';

export type Platform = {
  readonly domain: string;
  readonly version: string;
};

/** An object in a plugin's file, with a function that returns the line of each value. */
export type FiledObject = {
  readonly file: string;
  readonly object: JsonObject;
  readonly lineOf: (pointer: string) => number | undefined;
};

const manifestFile = 'plugin.yaml';

type CheckedManifest = {
  readonly manifest: Manifest | undefined;
  readonly problems: readonly PluginProblem[];
};

/** Reads and checks plugin.yaml. `manifest` is undefined if the manifest is invalid. */
export async function checkManifest(folder: PluginFolder, { domain, version }: Platform): Promise<CheckedManifest> {
  const file = await readManifest(folder);
  if (!file.ok) return { manifest: undefined, problems: [{ file: manifestFile, line: undefined, text: file.problem }] };
  const lines = yamlLines(file.text);
  const decoded = decodeManifest(file.text, domain);
  if (!decoded.ok)
    return { manifest: undefined, problems: decoded.problems.map((problem) => inManifest(problem, lines)) };
  const { manifest } = decoded;
  const unfit = platformProblem(manifest, version);
  const packed = await readPackageVersion(folder);
  const problems = [
    ...(unfit === undefined ? [] : [`spec.requires: ${unfit}`]),
    ...(packed === undefined || manifest.version === undefined || packed === manifest.version
      ? []
      : [`spec.version: is ${manifest.version}, and the version in package.json is ${packed}: use the same version`]),
  ];
  return { manifest, problems: problems.map((problem) => inManifest(problem, lines)) };
}

/** Returns the problem of the built front end, or an empty array. */
export async function checkFrontEnd(folder: PluginFolder, manifest: Manifest): Promise<readonly PluginProblem[]> {
  const read = manifest.console === undefined ? undefined : await readFrontEnd(folder, manifest.console);
  if (read?.ok !== false) return [];
  const file = await readManifest(folder);
  const line = yamlLines(file.ok ? file.text : '')(0, '/spec/console');
  return [{ file: manifestFile, line, text: read.problem }];
}

type CheckedObjects = {
  readonly objects: readonly FiledObject[];
  readonly problems: readonly PluginProblem[];
};

/** Returns the objects that the plugin ships, and the problems that can be found without the types of the objects. */
export async function checkObjectFiles(folder: PluginFolder, plugin: string, domain: string): Promise<CheckedObjects> {
  const files = await readObjectFiles(folder);
  const lines = new Map(files.map(({ path, file }) => [path, file.ok ? yamlLines(file.text) : undefined]));
  const decoded = decodeShippedObjects(files, { plugin, domain });
  const objects = files.flatMap(({ path, file }) => {
    const yaml = file.ok ? yamlDocuments(file.text, domain) : file;
    const documents = yaml.ok ? yaml.documents : [];
    return documents.flatMap((object, index): readonly FiledObject[] =>
      isObject(object)
        ? [
            {
              file: path,
              object,
              lineOf: (pointer) => lines.get(path)?.(index, pointer),
            },
          ]
        : [],
    );
  });
  return { objects, problems: decoded.ok ? [] : decoded.problems.map((problem) => inObjectFile(problem, lines)) };
}

/** Adds the line to a problem in plugin.yaml. */
function inManifest(problem: string, lines: YamlLines): PluginProblem {
  return { file: manifestFile, line: manifestLine(problem, lines), text: problem };
}

/**
 * Adds the file and line to a problem in an object file. The text begins with the path of the file. The number of the
 * document follows if the problem is in one document.
 */
function inObjectFile(problem: string, lines: ReadonlyMap<string, YamlLines | undefined>): PluginProblem {
  const file = [...lines.keys()].find((path) => problem.startsWith(path));
  if (file === undefined) return { file, line: undefined, text: problem };
  const [, document, text] = /^(?:, document ([0-9]+))?: ([^]*)$/u.exec(problem.slice(file.length)) ?? [];
  const line = document === undefined ? yamlLine(problem) : lines.get(file)?.(Number(document) - 1, '');
  return { file, line, text: text ?? problem };
}
