import semver from 'semver';

import { isObject } from '../../base/guards.ts';
import { nameProblem } from '../../resource/type/names.ts';
import { nearWord } from '../../resource/schema/suggestions.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import { valueAt } from '../../resource/object/json-pointer.ts';
import { compileSchema } from '../../resource/schema/schema.ts';
import { shortJson } from '../../resource/schema/schema-violations.ts';
import { pluginSchema, pluginTypeName } from '../objects/plugin-type.ts';
import { yamlDocuments } from '../objects/yaml-documents.ts';
import { yamlLine, yamlLines, type YamlLines } from '../objects/yaml-lines.ts';

/** A plugin's validated `plugin.yaml`. */
export type Manifest = {
  readonly name: string;
  readonly version: string | undefined;
  /** The path of the ES module as in the manifest; undefined for a plugin that consists only of YAML files. */
  readonly main: string | undefined;
  /** The path of the folder with the built front end; undefined for a plugin without a front end. */
  readonly console: string | undefined;
  /** The range of platform versions with which the plugin works. */
  readonly requires: string | undefined;
  /** The version ranges of the required plugins, by plugin name. */
  readonly dependencies: ReadonlyMap<string, string>;
  readonly enabled: boolean;
  /** The `Plugin` object that the manifest declares. */
  readonly object: JsonObject;
};

/** The name under which the platform owns its types and roles. A plugin must not have this name. */
const platformName = 'platform';

export type DecodedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  /** `name` is set if the document contains a valid name. */
  | { readonly ok: false; readonly name: string | undefined; readonly problems: readonly string[] };

export function decodeManifest(text: string, domain: string): DecodedManifest {
  const yaml = yamlDocuments(text, domain);
  if (!yaml.ok) return { ok: false, name: undefined, problems: [yaml.problem] };
  const [document] = yaml.documents;
  if (yaml.documents.length !== 1)
    return {
      ok: false,
      name: undefined,
      problems: [`must contain exactly one YAML document, contains ${String(yaml.documents.length)}`],
    };
  if (!isObject(document))
    return { ok: false, name: undefined, problems: [`must contain an object, is ${shortJson(document)}`] };
  const name = nameOf(document);
  const problems = [...identityProblems(document, domain), ...specProblems(document), ...misspeltMetadata(document)];
  if (name === undefined || problems.length > 0 || !isObject(document['spec'])) return { ok: false, name, problems };
  const { version, main, console, requires, pluginDependencies, enabled } = document['spec'];
  const manifest: Manifest = {
    name,
    version: textOf(version),
    main: textOf(main),
    console: textOf(console),
    requires: textOf(requires),
    dependencies: new Map(
      Object.entries(isObject(pluginDependencies) ? pluginDependencies : {}).map(([dependency, range]) => [
        dependency,
        textOf(range) ?? '*',
      ]),
    ),
    enabled: enabled !== false,
    object: document,
  };
  return { ok: true, manifest };
}

/**
 * Returns the line in plugin.yaml of a problem that `decodeManifest` returns. The text of a problem may begin with the
 * path of a member, as in `spec.version: …`.
 */
export function manifestLine(problem: string, lines: YamlLines): number | undefined {
  const member = /^([A-Za-z][\w.]*): /u.exec(problem)?.[1];
  return member === undefined ? yamlLine(problem) : lines(0, `/${member.replaceAll('.', '/')}`);
}

/** Decodes the text of plugin.yaml. For an invalid manifest, returns a problem with line numbers. */
export function readManifestText(
  file: { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string },
  domain: string,
): { readonly ok: true; readonly manifest: Manifest } | { readonly ok: false; readonly problem: string } {
  if (!file.ok) return { ok: false, problem: `plugin.yaml: ${file.problem}` };
  const decoded = decodeManifest(file.text, domain);
  if (decoded.ok) return decoded;
  const lines = yamlLines(file.text);
  const problems = decoded.problems.map((problem) => {
    const line = manifestLine(problem, lines);
    return `plugin.yaml${line === undefined ? '' : `:${String(line)}`}: ${problem}`;
  });
  return { ok: false, problem: problems.join('; ') };
}

/**
 * Returns the reason why this version of the platform cannot run the plugin; undefined if there is no reason. A
 * pre-release of the platform is treated like its release.
 */
export function platformProblem({ requires }: Manifest, platformVersion: string): string | undefined {
  if (requires === undefined || semver.satisfies(releaseOf(platformVersion), requires, { includePrerelease: true }))
    return undefined;
  return `requires platform ${requires}; the version of this platform is ${platformVersion}`;
}

export function isVersionInRange(version: string | undefined, range: string): boolean {
  return (
    range === '*' ||
    range === '' ||
    (version !== undefined && semver.satisfies(version, range, { includePrerelease: true }))
  );
}

export function isOlderVersion(version: string, than: string): boolean {
  return semver.lt(version, than);
}

function releaseOf(version: string): string {
  const parsed = semver.parse(version);
  return parsed === null ? version : `${String(parsed.major)}.${String(parsed.minor)}.${String(parsed.patch)}`;
}

function nameOf(document: JsonObject): string | undefined {
  const metadata = document['metadata'];
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' && nameProblem(name) === undefined ? name : undefined;
}

function identityProblems(document: JsonObject, domain: string): readonly string[] {
  const { group, version } = pluginTypeName(domain);
  const problems: string[] = [];
  if (document['apiVersion'] !== `${group}/${version}`)
    problems.push(`apiVersion: must be ${group}/${version}, is ${shortJson(document['apiVersion'])}`);
  if (document['kind'] !== 'Plugin') problems.push(`kind: must be Plugin, is ${shortJson(document['kind'])}`);
  const metadata = document['metadata'];
  const name = isObject(metadata) ? metadata['name'] : undefined;
  const problem = typeof name === 'string' ? nameProblem(name) : 'must be a string';
  if (problem !== undefined) problems.push(`metadata.name: ${problem}, is ${shortJson(name)}`);
  if (name === platformName)
    problems.push(`metadata.name: ${platformName} is reserved for the types and roles of the platform`);
  return problems;
}

/** The rules for members of `spec` that are present. Other members are allowed. */
const specRules: readonly (readonly [string, (value: JsonValue) => boolean, string])[] = [
  [
    'version',
    (value) => typeof value === 'string' && semver.valid(value) !== null,
    'must be a semantic version like "1.2.0" (in quotes where YAML would read a number)',
  ],
  ['main', (value) => typeof value === 'string' && value !== '', 'must be a path'],
  [
    'console',
    (value) => typeof value === 'string' && /^(?:[\w-][\w.-]*\/)*console\/?$/u.test(value),
    'must be the path of a folder named console, like "dist/console"',
  ],
  ['requires', isRange, 'must be a range of versions like ">=1.0.0"'],
  ['enabled', (value) => typeof value === 'boolean', 'must be true or false'],
  ['package', () => false, 'must be omitted: the installation sets this member'],
  [
    'pluginDependencies',
    (value) =>
      isObject(value) &&
      Object.keys(value).every((name) => nameProblem(name) === undefined) &&
      Object.values(value).every(isRange),
    'must be an object with a range of versions like ">=1.0.0" or "*" for each plugin name',
  ],
];

function specProblems(document: JsonObject): readonly string[] {
  const { spec } = document;
  if (!isObject(spec)) {
    const near = spec === undefined ? nearWord('spec', Object.keys(document)) : undefined;
    return [
      'spec: must be an object, is ' +
        `${shortJson(spec)}${near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`}`,
    ];
  }
  const violated = specRules.filter(([member, holds]) => {
    const value = spec[member];
    return value !== undefined && !holds(value);
  });
  const reported = new Set(violated.map(([member]) => member));
  return [
    ...violated.map(
      ([member, , rule]) => `spec.${member}: ${rule}${member === 'package' ? '' : `, is ${shortJson(spec[member])}`}`,
    ),
    ...objectProblems(document, reported),
    ...misspelt(spec, 'spec', specMembers),
  ];
}

const specMembers = Object.keys(pluginSchema.properties.spec.properties);

/** The members of the metadata that a manifest may have. */
const metadataMembers = ['name', 'labels', 'annotations', 'finalizers', 'ownerReferences'];

function misspeltMetadata({ metadata }: JsonObject): readonly string[] {
  return isObject(metadata) ? misspelt(metadata, 'metadata', metadataMembers) : [];
}

/**
 * Returns the problems of members that are probably misspelt, because their names resemble a known name. Other unknown
 * members are allowed, because other programs may use them.
 */
function misspelt(object: JsonObject, at: string, known: readonly string[]): readonly string[] {
  return Object.keys(object).flatMap((member) => {
    const near = known.includes(member) ? undefined : nearWord(member, known);
    return near === undefined ? [] : [`${at}.${member}: is not known; did you mean ${JSON.stringify(near)}?`];
  });
}

const schema = compileSchema(pluginSchema);

/** Returns the violations of the Plugin schema, except for members of `spec` that are already reported. */
function objectProblems(document: JsonObject, reported: ReadonlySet<string>): readonly string[] {
  const violations = schema.ok ? schema.violations(document) : [];
  return violations
    .filter(({ pointer }) => !reported.has(pointer.split('/')[2] ?? ''))
    .map(
      ({ pointer, detail }) =>
        `${pointer.slice(1).replaceAll('/', '.')}: ` +
        `${detail}${detail.startsWith('must') ? foundAt(document, pointer) : ''}`,
    );
}

function foundAt(document: JsonObject, pointer: string): string {
  const found = valueAt(document, pointer);
  return found === undefined ? '' : `, is ${shortJson(found)}`;
}

function isRange(value: JsonValue): boolean {
  return typeof value === 'string' && semver.validRange(value) !== null;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
