import type { JsonObject } from '../../resource/object/object.ts';
import { isObject } from '../../base/guards.ts';
import { decodeManifest, platformProblem, type Manifest } from '../load/manifest.ts';
import { readManifest, readObjectFiles, readPackageVersion, type PluginFolder } from '../folders/plugin-folder.ts';
import { decodeShippedObjects } from '../objects/shipped-objects.ts';
import { yamlDocuments } from '../objects/yaml-documents.ts';
import type { PluginProblem } from './plugin-problem.ts';
import { yamlLines, type YamlLines } from './yaml-lines.ts';

export type Platform = {
  readonly domain: string;
  readonly version: string;
};

/** An object in one of the plugin's files, with the line of each of its values. */
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

/** Reads and checks plugin.yaml. If it is invalid, `manifest` is undefined. */
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

/**
 * Converts the text of a problem in plugin.yaml to a problem with a line. The text of a problem of a member begins with
 * the path of the member, as in `spec.version: …`.
 */
function inManifest(problem: string, lines: YamlLines): PluginProblem {
  const member = /^([A-Za-z][\w.]*): /u.exec(problem)?.[1];
  const line = member === undefined ? yamlLine(problem) : lines(0, `/${member.replaceAll('.', '/')}`);
  return { file: manifestFile, line, text: problem };
}

/**
 * Converts the text of a problem in an object file to a problem with a line. The text of a problem of a document begins
 * with the path of the file and the number of the document. The text of a problem of a whole file begins with the path
 * alone.
 */
function inObjectFile(problem: string, lines: ReadonlyMap<string, YamlLines | undefined>): PluginProblem {
  const file = [...lines.keys()].find((path) => problem.startsWith(path));
  if (file === undefined) return { file, line: undefined, text: problem };
  const [, document, text] = /^(?:, document ([0-9]+))?: ([^]*)$/u.exec(problem.slice(file.length)) ?? [];
  const line = document === undefined ? yamlLine(problem) : lines.get(file)?.(Number(document) - 1, '');
  return { file, line, text: text ?? problem };
}

/**
 * Returns the line in the message of a YAML error; undefined if there is none. The parser's messages end with the line
 * and the column.
 */
function yamlLine(problem: string): number | undefined {
  const found = / at line ([0-9]+)/u.exec(problem)?.[1];
  return found === undefined ? undefined : Number(found);
}
