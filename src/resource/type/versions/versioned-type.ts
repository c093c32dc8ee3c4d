import type { ResourceObject } from '../../object/object.ts';
import { valueDifferences, type ValueDifference } from '../../object/value-differences.ts';
import { shortJson } from '../../schema/schema-violations.ts';
import type { ResourceType } from '../resource-type.ts';
import { convert, hasFunctions, type Conversion } from './convert.ts';
import type { DeclaredVersions, OtherVersion, WrittenStep } from './declared-versions.ts';
import { VersionCalls } from './version-calls.ts';
import { VersionFaults } from './version-faults.ts';

type Place = Pick<ResourceType, 'apiVersion' | 'path'>;

/** Returns the type with its versions. `placeOf` returns the `apiVersion` and the path of a version. */
export function withVersions(
  type: ResourceType,
  { names, others, steps }: DeclaredVersions,
  placeOf: (version: string) => Place,
): ResourceType {
  const served: ResourceType[] = [];
  const all = names.map((name) => placeOf(name).apiVersion);
  const versions = { all, steps, served, calls: new VersionCalls(), faults: new VersionFaults() };
  const preferred: ResourceType = { ...type, versions };
  for (const name of names) {
    const other = others.find((one) => one.name === name);
    if (other === undefined) served.push(preferred);
    else if (other.served) served.push(inVersion(preferred, other, placeOf(name)));
  }
  return preferred;
}

function inVersion(preferred: ResourceType, other: OtherVersion, place: Place): ResourceType {
  const { schema: compiled, name, printerColumns = preferred.printerColumns, deprecation } = other;
  const { schema, check, checkStatus, prune, fillDefaults, rules } = compiled;
  const successor = `use ${preferred.apiVersion} ${preferred.kind}`;
  return {
    ...preferred,
    ...place,
    version: name,
    ...{ schema, check, checkStatus, prune, fillDefaults, rules },
    printerColumns,
    preferred,
    deprecation: deprecation === '' ? `${place.apiVersion} ${preferred.kind} is deprecated; ${successor}` : deprecation,
  };
}

const sampleMetadata = {
  name: 'example',
  uid: '00000000-0000-4000-8000-000000000000',
  version: 0,
  generation: 1,
  creationTimestamp: '2000-01-01T00:00:00.000Z',
};

/** A problem with an example of a version. */
export type ConversionProblem = {
  readonly text: string;
  /**
   * The declared function that converts the example. If the conversion has several steps, the function of the first
   * step.
   */
  readonly run: unknown;
  /** The value that the function threw. */
  readonly thrown?: unknown;
};

/**
 * Returns a problem for each example of a version that is invalid, cannot be converted, or changes when it is converted
 * to another version and back. Also returns a problem for each version without examples. A type without conversion
 * functions needs no examples.
 */
export function roundTripProblems(
  preferred: ResourceType,
  declared: DeclaredVersions | undefined,
  placeOf: (version: string) => Place,
): readonly ConversionProblem[] {
  const { versions } = preferred;
  if (declared === undefined || versions === undefined || !hasFunctions(versions)) return [];
  const { names, others, examples, written } = declared;
  const typeOf = (name: string): ResourceType => {
    const other = others.find((one) => one.name === name);
    return other === undefined ? preferred : inVersion(preferred, other, placeOf(name));
  };
  return names.flatMap((name): readonly ConversionProblem[] => {
    const own = examples.get(name) ?? [];
    if (own.length === 0)
      return [{ text: `examples: ${name} needs an example, with which its conversion is checked`, run: undefined }];
    const type = typeOf(name);
    const targets = type === preferred ? others.map((other) => typeOf(other.name)) : [preferred];
    return own.flatMap((members, index) =>
      exampleProblems(type, members, targets).map(({ text, target, thrown }) => ({
        text: `examples of ${name}[${String(index)}]: ${text}`,
        run: target === undefined ? undefined : firstRun(written, names.indexOf(name), names.indexOf(target.version)),
        thrown,
      })),
    );
  });
}

/** Returns the first declared function on the way between two versions, by their positions. */
function firstRun(written: readonly WrittenStep[], from: number, to: number): unknown {
  const runs =
    from < to
      ? written.slice(from, to).map(({ up }) => up)
      : written
          .slice(to, from)
          .map(({ down }) => down)
          .reverse();
  return runs.find((run) => run !== undefined);
}

type ExampleProblem = Omit<ConversionProblem, 'run'> & {
  /** The type in the version to which the example was converted. */
  readonly target?: ResourceType;
};

function exampleProblems(
  type: ResourceType,
  members: Readonly<Record<string, unknown>>,
  targets: readonly ResourceType[],
): readonly ExampleProblem[] {
  const { apiVersion, kind } = type;
  const given = filled({ apiVersion, kind, metadata: sampleMetadata, ...members }, type);
  const invalid = faultOf(given, type);
  if (invalid !== undefined) return [{ text: invalid }];
  return targets.flatMap((target): readonly ExampleProblem[] => {
    const there = convert(given, target);
    if (!there.ok) return [failed(there, target)];
    const fault = faultOf(filled(there.object, target), target);
    if (fault !== undefined) return [{ text: `becomes an invalid object of ${target.version}: ${fault}`, target }];
    const back = convert(there.object, type);
    if (!back.ok) return [failed(back, target)];
    const changes = valueDifferences(given, filled(back.object, type));
    return changes.length === 0
      ? []
      : [{ text: `comes back changed from ${target.version}: ${changesText(changes)}; ${kept}`, target }];
  });
}

function failed({ problem, thrown }: Extract<Conversion, { ok: false }>, target: ResourceType): ExampleProblem {
  const text = thrown === undefined ? problem : `${problem}; the function must convert every valid object`;
  return { text, target, thrown };
}

const kept = 'keep the values that a version lacks, for example in an annotation';
const changesShownMax = 4;
const valueLengthMax = 80;

function changesText(changes: readonly ValueDifference[]): string {
  const more = changes.length - changesShownMax;
  const shown = changes
    .slice(0, changesShownMax)
    .map(
      ({ pointer, expected, actual }) =>
        `${pointer} must be ${shortJson(expected, valueLengthMax)}, is ${shortJson(actual, valueLengthMax)}`,
    );
  return `${shown.join('; ')}${more > 0 ? `; and ${String(more)} more members` : ''}`;
}

function filled(object: ResourceObject, type: ResourceType): ResourceObject {
  const members = membersOf(object);
  return { ...object, ...(type.fillDefaults(members) ?? members) };
}

function faultOf(object: ResourceObject, type: ResourceType): string | undefined {
  const [first] = type.check(membersOf(object)).found;
  return first && `${first.pointer === '' ? 'it' : first.pointer} ${first.detail}`;
}

function membersOf({ apiVersion: _v, kind: _k, metadata: _m, ...members }: ResourceObject): ResourceObjectMembers {
  return members;
}

type ResourceObjectMembers = Readonly<Record<string, unknown>>;
