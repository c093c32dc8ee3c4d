import { isObject } from '../../../base/guards.ts';
import { shortJson, type Explained } from '../schema-violations.ts';
import { rootPlace, structuralPlaces, testPlaces, type Place, type SchemaGraph } from '../structural.ts';
import { EndlessDefaultError, hasDefault, type DefaultFills } from './default-fills.ts';

/**
 * Compiles the part of the schema at a JSON pointer. The compiled function returns the first violation of a value, or
 * an empty list.
 */
export type CompilePart = (pointer: string) => (value: unknown) => readonly Explained[];

/** Returns the reasons why defaults of a schema cannot be filled in, each with its place. */
export function defaultProblems(graph: SchemaGraph, fills: DefaultFills, compilePart: CompilePart): readonly string[] {
  const misplaced = [...rootProblems(graph, fills), ...testProblems(graph)];
  return misplaced.length > 0 ? misplaced : valueProblems(graph, fills, compilePart);
}

const identityMembers = ['apiVersion', 'kind', 'metadata'];

function rootProblems(graph: SchemaGraph, fills: DefaultFills): readonly string[] {
  return graph.conjuncts(rootPlace(graph)).flatMap((place) => {
    const { at, schema } = place;
    const whole = hasDefault(schema)
      ? [`${at}default: the top level describes the whole object, which always exists; give defaults to members`]
      : [];
    const names = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
    const members = names
      .filter((name) => identityMembers.includes(name) || isIndex(name))
      .filter((name) => {
        const member = graph.inner(place, 'properties', name);
        return member !== undefined && fills.isFilled(member);
      })
      .map((name) => `${at}properties.${name}: cannot have a default: the platform sets it, or its name is a number`);
    return [...whole, ...members];
  });
}

/**
 * Whether the name is an array index. JavaScript puts members with such names first, so a default would precede
 * apiVersion.
 */
function isIndex(name: string): boolean {
  return /^(?:0|[1-9][0-9]*)$/u.test(name);
}

function testProblems(graph: SchemaGraph): readonly string[] {
  return testPlaces(graph)
    .filter(({ schema }) => hasDefault(schema))
    .map(
      ({ at, keyword }) =>
        `${at}default: has no effect below ${keyword}, which only tests a value; ` +
        'move the default to properties, items, additionalProperties or allOf',
    );
}

function valueProblems(graph: SchemaGraph, fills: DefaultFills, compilePart: CompilePart): readonly string[] {
  const slots = structuralPlaces(graph).flatMap((place) =>
    graph.edges(place).filter(({ kind }) => kind === 'member' || kind === 'item'),
  );
  const problems = slots.flatMap((slot) =>
    slot.at.endsWith('properties.__proto__.') && fills.isFilled(slot)
      ? [`${slot.at}default: a member named "__proto__" cannot have a default`]
      : problemsAt(slot, fills, compilePart).map((problem) => `${slot.at}default: ${problem}`),
  );
  return [...new Set(problems)];
}

function problemsAt(place: Place, fills: DefaultFills, compilePart: CompilePart): readonly string[] {
  try {
    const fallback = fills.fallbackOf(place);
    if (fallback === undefined) return [];
    const text = shortJson(fallback.value);
    return compilePart(place.pointer)(fallback.value).map(
      ({ pointer, detail }) => `${`${pointer} ${detail}`.trimStart()}; the default with its own defaults is ${text}`,
    );
  } catch (error) {
    if (!(error instanceof EndlessDefaultError)) throw error;
    return ['contains itself without end: a member of the default has the same default'];
  }
}
