import { isObject } from '../../../base/guards.ts';
import { shortJson, type Explained } from '../schema-violations.ts';
import { rootPlace, structuralPlaces, testPlaces, type Place, type SchemaGraph } from '../structural.ts';
import { EndlessDefaultError, hasDefault, type DefaultFills } from './default-fills.ts';

/**
 * Compiles the part of the schema at a JSON pointer. The compiled function returns the first violation of a value, or
 * an empty list.
 */
export type CompilePart = (pointer: string) => (value: unknown) => readonly Explained[];

/** Compiles several parts at once, which is cheaper. The compiled function returns whether all values are valid. */
export type CompileParts = (pointers: readonly string[]) => (values: readonly unknown[]) => boolean;

export type PartCompilers = { readonly compilePart: CompilePart; readonly compileParts: CompileParts };

/** Returns the reasons why defaults of a schema cannot be filled in, each with its place. */
export function defaultProblems(graph: SchemaGraph, fills: DefaultFills, parts: PartCompilers): readonly string[] {
  const misplaced = [...rootProblems(graph, fills), ...testProblems(graph)];
  return misplaced.length > 0 ? misplaced : valueProblems(graph, fills, parts);
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

/** The defaults that are checked at once. */
const checkedAtOnce = 100;

function valueProblems(graph: SchemaGraph, fills: DefaultFills, parts: PartCompilers): readonly string[] {
  const slots = structuralPlaces(graph).flatMap((place) =>
    graph.edges(place).filter(({ kind }) => kind === 'member' || kind === 'item'),
  );
  const problems: string[] = [];
  const filled: FilledDefault[] = [];
  for (const slot of new Map(slots.map((each) => [each.pointer, each])).values()) {
    const found = fallbackAt(slot, fills);
    if (typeof found === 'string') problems.push(`${slot.at}default: ${found}`);
    else if (found !== undefined) filled.push({ slot, value: found.value });
  }
  for (let from = 0; from < filled.length; from += checkedAtOnce)
    problems.push(...problemsOf(filled.slice(from, from + checkedAtOnce), parts));
  return problems;
}

type FilledDefault = { readonly slot: Place; readonly value: unknown };

/** Returns the default of a place with its own defaults, or the reason why there is none. */
function fallbackAt(slot: Place, fills: DefaultFills): { readonly value: unknown } | string | undefined {
  if (slot.at.endsWith('properties.__proto__.') && fills.isFilled(slot))
    return 'a member named "__proto__" cannot have a default';
  try {
    return fills.fallbackOf(slot);
  } catch (error) {
    if (!(error instanceof EndlessDefaultError)) throw error;
    return 'contains itself without end: a member of the default has the same default';
  }
}

function problemsOf(
  defaults: readonly FilledDefault[],
  { compilePart, compileParts }: PartCompilers,
): readonly string[] {
  const areValid = compileParts(defaults.map(({ slot }) => slot.pointer));
  if (areValid(defaults.map(({ value }) => value))) return [];
  return defaults.flatMap(({ slot, value }) =>
    compilePart(slot.pointer)(value).map(
      ({ pointer, detail }) =>
        `${slot.at}default: ${`${pointer} ${detail}`.trimStart()}; ` +
        `the default with its own defaults is ${shortJson(value)}`,
    ),
  );
}
