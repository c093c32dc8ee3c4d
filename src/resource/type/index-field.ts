import { isObject } from '../../base/guards.ts';
import { withPlatformMembers } from '../schema/schema.ts';
import type { Schema } from '../schema/schema-check.ts';
import { SchemaGraph, type Place } from '../schema/structural.ts';
import { nearWord } from '../schema/suggestions.ts';
import type { IndexSpec } from './index-spec.ts';

const text = { type: 'string' };
const number = { type: 'integer' };
const texts = { type: 'object', additionalProperties: text };

/** The schema of an object's metadata, as `Metadata` defines it. */
const metadataSchema: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: text,
    generateName: text,
    uid: text,
    version: number,
    generation: number,
    creationTimestamp: text,
    deletionTimestamp: text,
    finalizers: { type: 'array', items: text },
    labels: texts,
    annotations: texts,
    ownerReferences: { type: 'array' },
  },
};

/**
 * Returns a problem for each index without a function at a path where no object of the type can have a value. `schema`:
 * the schema of the preferred version, in which objects are indexed. Keywords that only test a value, such as `anyOf`,
 * are assumed to exclude nothing.
 */
export function indexFieldProblems(specs: readonly IndexSpec[], schema: Schema): readonly string[] {
  const computed = specs.filter(({ indexFunc }) => indexFunc === undefined);
  if (computed.length === 0) return [];
  const whole = withPlatformMembers(schema);
  const { properties } = whole;
  const graph = new SchemaGraph({
    ...whole,
    properties: { ...(isObject(properties) ? properties : {}), apiVersion: text, kind: text, metadata: metadataSchema },
  });
  return computed.flatMap(({ name }) => {
    const problem = fieldProblem(graph, name.split('.'));
    return problem === undefined
      ? []
      : [
          `index ${JSON.stringify(name)}: no object can have this field: ` +
            `${problem}; correct the name, or add indexFunc`,
        ];
  });
}

function fieldProblem(graph: SchemaGraph, path: readonly string[]): string | undefined {
  let places: readonly Place[] = graph.conjuncts({ schema: graph.root, at: '', pointer: '' });
  for (const [depth, member] of path.entries()) {
    const where = path.slice(0, depth).join('.');
    // The path leads to an element or to the length of an array. The schemas of elements are not checked.
    if (isArrayMember(member) && mayBe(places, 'array')) return undefined;
    if (!mayBe(places, 'object')) return `${where} must be of type ${typeText(places)}, which has no member ${member}`;
    const found = memberPlaces(graph, places, member);
    if (found === undefined)
      return `the schema allows no ${member} in ${objectText(where)}${otherMembers(places, member)}`;
    if (found.length === 0) return undefined;
    places = found.flatMap((place) => graph.conjuncts(place));
  }
  return undefined;
}

function isArrayMember(member: string): boolean {
  return member === 'length' || /^(?:0|[1-9]\d*)$/u.test(member);
}

/** Whether the schemas of a value allow the type. */
function mayBe(places: readonly Place[], wanted: 'array' | 'object'): boolean {
  return places.every(({ schema: { type } }) => type === undefined || typesIn(type).includes(wanted));
}

/** Returns the types of the first schema with types. */
function typeText(places: readonly Place[]): string {
  return typesIn(places.map(({ schema }) => schema['type']).find((type) => type !== undefined)).join(' or ');
}

function typesIn(type: unknown): readonly string[] {
  return [type].flat().filter((each) => typeof each === 'string');
}

/** Returns the schemas of a member; undefined if a schema of the object excludes the member. */
function memberPlaces(graph: SchemaGraph, places: readonly Place[], member: string): readonly Place[] | undefined {
  const found: Place[] = [];
  for (const place of places) {
    const schemas = schemasOfMember(graph, place, member);
    if (schemas === undefined) return undefined;
    found.push(...schemas);
  }
  return found;
}

function schemasOfMember(graph: SchemaGraph, place: Place, member: string): readonly Place[] | undefined {
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = place.schema;
  const named =
    isObject(properties) && Object.hasOwn(properties, member) ? (['properties', member] as const) : undefined;
  const matched = Object.keys(isObject(patternProperties) ? patternProperties : {})
    .filter((pattern) => new RegExp(pattern, 'u').test(member))
    .map((pattern) => ['patternProperties', pattern] as const);
  const declared = named === undefined ? matched : [named, ...matched];
  if (declared.length === 0) {
    if (additionalProperties === false) return undefined;
    if (unevaluatedProperties === false && !isEvaluated(graph, place, member)) return undefined;
    return presentPlaces([graph.inner(place, 'additionalProperties')]);
  }
  const isExcluded = declared.some(([keyword, key]) => {
    const schemas = place.schema[keyword];
    return isObject(schemas) && schemas[key] === false;
  });
  return isExcluded ? undefined : presentPlaces(declared.map(([keyword, key]) => graph.inner(place, keyword, key)));
}

function presentPlaces(places: readonly (Place | undefined)[]): readonly Place[] {
  return places.filter((place) => place !== undefined);
}

/** The keywords with schemas that apply to the same object, and that may declare the member. */
const applied: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'then',
  'else',
  'dependentSchemas',
  '$ref',
  '$dynamicRef',
]);

/** Whether another schema that may apply to the same object declares the member, or allows any member. */
function isEvaluated(graph: SchemaGraph, place: Place, member: string): boolean {
  const seen = new Set<Schema>([place.schema]);
  const waiting = graph.edges(place).filter(({ keyword }) => applied.has(keyword));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next.schema)) continue;
    seen.add(next.schema);
    const { properties, patternProperties, additionalProperties, unevaluatedProperties } = next.schema;
    const isDeclared =
      (isObject(properties) && Object.hasOwn(properties, member)) ||
      Object.keys(isObject(patternProperties) ? patternProperties : {}).some((key) =>
        new RegExp(key, 'u').test(member),
      );
    const isOpen = [additionalProperties, unevaluatedProperties].some((rest) => rest !== undefined && rest !== false);
    if (isDeclared || isOpen) return true;
    waiting.push(...graph.edges(next).filter(({ keyword }) => applied.has(keyword)));
  }
  return false;
}

function objectText(where: string): string {
  return where === '' ? 'an object of the type' : where;
}

const membersShownMax = 16;

/** Returns a hint for an unknown member: a similar member, or the members that the schemas of the object declare. */
function otherMembers(places: readonly Place[], member: string): string {
  const known = [
    ...new Set(places.flatMap(({ schema: { properties } }) => Object.keys(isObject(properties) ? properties : {}))),
  ].sort();
  const near = nearWord(member, known);
  if (near !== undefined) return `; did you mean ${JSON.stringify(near)}?`;
  const more = known.length - membersShownMax;
  const shown = known.slice(0, membersShownMax).join(', ');
  return known.length === 0 ? '' : `, which has ${shown}${more > 0 ? ` and ${String(more)} more` : ''}`;
}
