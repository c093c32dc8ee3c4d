import { isObject } from '../../base/guards.ts';
import { labelNameLengthMax } from '../../limits/objects.ts';
import { decodePrinterColumns } from './declared-columns.ts';
import { decodeNames, resourceForm, resourceRule } from './declared-names.ts';
import { decodeHooks, sourceOfHooks } from './declared-hooks.ts';
import { decodeScale } from './declared-scale.ts';
import { decodeReferences } from '../references/decode-references.ts';
import { declarationOf } from './declaration-of.ts';
import type { DeclaredBy } from './declaration.ts';
import { defineIndexes, type DefinedIndexes } from './index-definition.ts';
import type { TypeKey } from './index-entry.ts';
import { indexFieldProblems } from './index-field.ts';
import { isReservedGroup, subdomainProblem, versionForm } from './names.ts';
import { otherWords } from '../schema/suggestions.ts';
import type { ResourceType } from './resource-type.ts';
import { compileSchema, type CompiledSchema } from '../schema/schema.ts';
import { shortJson } from '../schema/schema-violations.ts';
import { decodeVersions, type DeclaredVersions } from './versions/declared-versions.ts';
import { roundTripProblems, withVersions, type ConversionProblem } from './versions/versioned-type.ts';

/** The owner of a declaration. Bundled plugins and the platform may use the reserved groups (seed 2.3). */
export type Declarer = {
  readonly plugin: string;
  readonly bundled: boolean;
  readonly domain: string;
  readonly by?: DeclaredBy;
};

export type CompiledType =
  | { readonly ok: true; readonly type: ResourceType }
  /** `conversions`: the problems of the examples of versions, by their texts in `problems`. */
  | {
      readonly ok: false;
      readonly problems: readonly string[];
      readonly conversions?: ReadonlyMap<string, ConversionProblem>;
    };

/**
 * Returns the identity of a type in streams and rows, independent of the type's version. A type in the core group has
 * an identity without a dot.
 */
export function typeKeyOf(group: string, plural: string): TypeKey {
  return (group === '' ? plural : `${plural}.${group}`) as TypeKey;
}

/** Returns `<group>/<version>`, or only `<version>` in the core group. */
export function groupVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

const members = new Set([
  'group',
  'version',
  'versions',
  'convert',
  'kind',
  'singular',
  'plural',
  'schema',
  'indexes',
  'statusSubresource',
  'printerColumns',
  'shortNames',
  'categories',
  'scale',
  'hooks',
  'references',
]);
/** The default of `Declarer.by`. */
const unknownOrigin: DeclaredBy = { version: '0.0.0', source: 'folder' };
const kindForm = /^[A-Z][A-Za-z0-9]*$/u;

/** Validates and compiles a declared type. The platform's own types are checked like plugins' types. */
export function compileType(declaration: unknown, declarer: Declarer): CompiledType {
  const { plugin, by = unknownOrigin } = declarer;
  if (!isObject(declaration)) return { ok: false, problems: ['a type must be an object'] };
  const problems = Object.keys(declaration)
    .filter((member) => !members.has(member))
    .map((member) => `${member}: is not known${otherWords(member, [...members])}`);
  const names = readNames(textReader(declaration, problems), declarer);
  const shortNames = decodeNames('shortNames', declaration['shortNames'], problems);
  const categories = decodeNames('categories', declaration['categories'], problems);
  const schema = compileSchema(declaration['schema']);
  if (!schema.ok) problems.push(...schema.problems.map((problem) => `schema: ${problem}`));
  const indexes = defineIndexes(declaration['indexes']);
  if (!indexes.ok) problems.push(...indexes.problems);
  const statusSubresource = decodeStatusSubresource(declaration['statusSubresource'], problems);
  const printerColumns = decodePrinterColumns(declaration['printerColumns'], problems);
  const scale = decodeScale(declaration['scale'], problems);
  const hooks = decodeHooks(declaration['hooks'], problems);
  const references = decodeReferences(declaration, { schema, declarer }, problems);
  const versions = decodeVersions(declaration, names.version, problems);
  if (schema.ok && indexes.ok) problems.push(...indexFieldProblems(indexes.specs, schema.schema));
  if (!schema.ok || !indexes.ok || problems.length > 0)
    return { ok: false, problems: eachOnce(problems).map((problem) => `${titleOf(declaration)}: ${problem}`) };
  const hooked = hooks === undefined ? [] : sourceOfHooks(declaration['hooks']);
  const shown = { ...names, statusSubresource, printerColumns, shortNames, categories };
  const type = assembleType({ ...shown, scale, hooks, references, hooked, schema, indexes, versions }, plugin, by);
  const faults = roundTripProblems(type, versions, (version) => placeOf(names, version));
  if (faults.length === 0) return { ok: true, type };
  const conversions = new Map(faults.map((fault) => [`${titleOf(declaration)}: convert: ${fault.text}`, fault]));
  return { ok: false, problems: [...conversions.keys()], conversions };
}

/**
 * Merges equal problems of the schemas of several versions. The versions after the first version are named at the end
 * of the text.
 */
function eachOnce(problems: readonly string[]): readonly string[] {
  const merged = new Map<string, { readonly text: string; readonly also: string[] }>();
  for (const text of problems) {
    const [, version, shared] = /^(?:(versions\[\d+\]): )?(schema: [^]*)$/u.exec(text) ?? [];
    const first = merged.get(shared ?? text);
    if (first === undefined) merged.set(shared ?? text, { text, also: [] });
    else if (version !== undefined) first.also.push(version);
  }
  return [...merged.values()].map(({ text, also }) =>
    also.length === 0 ? text : `${text} (also in ${also.join(', ')})`,
  );
}

function decodeStatusSubresource(input: unknown, problems: string[]): boolean {
  if (input !== undefined && typeof input !== 'boolean')
    problems.push(`statusSubresource: must be true or false, is ${shortJson(input)}`);
  return input === true;
}

type DecodedType = Pick<
  ResourceType,
  | 'group'
  | 'version'
  | 'kind'
  | 'singular'
  | 'plural'
  | 'statusSubresource'
  | 'printerColumns'
  | 'shortNames'
  | 'categories'
  | 'scale'
  | 'hooks'
  | 'references'
> & {
  readonly hooked: readonly string[];
  readonly schema: CompiledSchema;
  readonly indexes: Extract<DefinedIndexes, { readonly ok: true }>;
  readonly versions: DeclaredVersions | undefined;
};

function assembleType(
  { schema, indexes, hooked, versions, ...parts }: DecodedType,
  plugin: string,
  by: DeclaredBy,
): ResourceType {
  const { group, plural, version, kind, statusSubresource, references } = parts;
  const { declaration, fingerprint } = declarationOf(
    {
      ...indexes,
      plugin,
      version,
      kind,
      schema,
      statusSubresource,
      hooks: hooked,
      references,
      versions,
    },
    by,
  );
  const type: ResourceType = {
    key: typeKeyOf(group, plural),
    ...parts,
    ...placeOf(parts, version),
    indexes: indexes.indexes,
    ...schemaMembers(schema),
    plugin,
    fingerprint,
    declaration,
    source: by.source,
  };
  return versions === undefined ? type : withVersions(type, versions, (name) => placeOf(parts, name));
}

function placeOf(
  { group, plural }: Pick<ResourceType, 'group' | 'plural'>,
  version: string,
): Pick<ResourceType, 'apiVersion' | 'path'> {
  return {
    apiVersion: groupVersionOf(group, version),
    path: group === '' ? `/api/${version}/${plural}` : `/apis/${group}/${version}/${plural}`,
  };
}

function schemaMembers({
  schema,
  check,
  checkStatus,
  prune,
  fillDefaults,
  rules,
}: CompiledSchema): Pick<ResourceType, 'schema' | 'check' | 'checkStatus' | 'prune' | 'fillDefaults' | 'rules'> {
  return { schema, check, checkStatus, prune, fillDefaults, rules };
}

type TextReader = (member: string, problemOf: (value: string) => string | undefined) => string;

function readNames(
  text: TextReader,
  declarer: Declarer,
): Pick<ResourceType, 'group' | 'version' | 'kind' | 'singular' | 'plural'> {
  return {
    group: text('group', (value) => groupProblem(value, declarer)),
    version: text('version', (value) =>
      versionForm.test(value) ? undefined : 'must be of the form v1, v1beta1 or v1alpha1',
    ),
    kind: text('kind', wordProblem(kindForm, 'CamelCase: an uppercase letter, then letters and digits')),
    singular: text('singular', wordProblem(resourceForm, resourceRule)),
    plural: text('plural', wordProblem(resourceForm, resourceRule)),
  };
}

/**
 * Returns a function that reads a string member of the declaration. The function adds the problem of an invalid value
 * to `problems`, and returns an empty string for a value that is not a string.
 */
function textReader(declaration: Readonly<Record<string, unknown>>, problems: string[]): TextReader {
  return (member, problemOf) => {
    const value = declaration[member];
    const problem = typeof value === 'string' ? problemOf(value) : 'must be a string';
    if (problem !== undefined)
      problems.push(`${member}: ${problem}${typeof value === 'string' ? `, is ${JSON.stringify(value)}` : ''}`);
    return typeof value === 'string' ? value : '';
  };
}

function groupProblem(group: string, { bundled, domain }: Declarer): string | undefined {
  if (bundled && group === '') return undefined;
  if (!bundled && isReservedGroup(group, domain))
    return `is reserved for the platform (the empty group, ${domain} and every group ending in .${domain})`;
  // A group such as `v1` would be ambiguous, because Go clients request versions of the core group at
  // `/apis/<version>`.
  if (versionForm.test(group)) return 'must not have the form of a version';
  return subdomainProblem(group);
}

function wordProblem(form: RegExp, rule: string): (value: string) => string | undefined {
  return (value) => {
    if (!form.test(value)) return `must be ${rule}`;
    return value.length > labelNameLengthMax ? `must be at most ${String(labelNameLengthMax)} characters` : undefined;
  };
}

function titleOf(declaration: Readonly<Record<string, unknown>>): string {
  const { kind, plural } = declaration;
  return `type ${typeof kind === 'string' ? kind : typeof plural === 'string' ? plural : 'without a kind'}`;
}
