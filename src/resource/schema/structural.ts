import { isObject } from '../../base/guards.ts';
import { escapeToken, unescapeToken } from '../../base/reference-token.ts';
import { valueAt } from '../object/json-pointer.ts';
import type { Schema } from './schema-check.ts';

/**
 * A schema and its place in the whole schema. `at`: the path of the schema in messages, followed by a dot, such as
 * `properties.spec.`; empty for the whole schema. `pointer`: the JSON pointer of the schema.
 */
export type Place = {
  readonly at: string;
  readonly pointer: string;
  readonly schema: Schema;
};

/**
 * A schema that another schema contains or refers to. As in Kubernetes, a structural part of a schema describes the
 * value itself, like `properties` and `items`. Other parts only test the value, like `anyOf`.
 */
export type Edge = Place & {
  readonly kind:
    | 'member'
    | 'item'
    /** The schema applies to the same value: `$ref` and `allOf`. */
    | 'conjunct'
    /** The schema only tests a value. */
    | 'test';
  /** The keyword that leads to the schema. */
  readonly keyword: string;
};

const structuralKinds: Readonly<Record<string, Edge['kind']>> = {
  properties: 'member',
  patternProperties: 'member',
  additionalProperties: 'member',
  items: 'item',
  prefixItems: 'item',
  allOf: 'conjunct',
};
const testsWithSchema = [
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contentSchema',
];
const testsWithSchemas = ['anyOf', 'oneOf'];
const testsWithSchemasByName = ['dependentSchemas'];

/**
 * Finds the schemas that a schema contains or refers to. A definition in `$defs` is found only through the schemas that
 * refer to the definition.
 */
export class SchemaGraph {
  readonly root: Schema;
  /** By the text of the reference: the target, or undefined for a reference without a target. */
  readonly #targets = new Map<string, Place | undefined>();

  constructor(root: Schema) {
    this.root = root;
  }

  edges({ schema, at, pointer }: Place): readonly Edge[] {
    const edges: Edge[] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      const kind = kindOf(keyword);
      if (kind === undefined) continue;
      for (const inner of inSchemas(value, `${at}${keyword}`, `${pointer}/${keyword}`, isOne(keyword)))
        edges.push({ ...inner, kind, keyword });
    }
    for (const keyword of ['$ref', '$dynamicRef']) {
      const target = this.target(schema[keyword]);
      if (target !== undefined) edges.push({ ...target, kind: keyword === '$ref' ? 'conjunct' : 'test', keyword });
    }
    return edges;
  }

  /**
   * Returns the schema in the value of a keyword, for example the schema of `spec` for `inner(place, 'properties',
   * 'spec')`. Returns undefined if this schema is missing or a boolean.
   */
  inner({ schema, at, pointer }: Place, keyword: string, key?: string | number): Place | undefined {
    const value = schema[keyword];
    if (key === undefined)
      return isObject(value) ? { schema: value, at: `${at}${keyword}.`, pointer: `${pointer}/${keyword}` } : undefined;
    const inner = valueAt(value, `/${escapeToken(String(key))}`);
    const step = typeof key === 'number' ? `[${String(key)}]` : `.${key}`;
    return isObject(inner)
      ? {
          schema: inner,
          at: `${at}${keyword}${step}.`,
          pointer: `${pointer}/${keyword}/${escapeToken(String(key))}`,
        }
      : undefined;
  }

  /**
   * Returns all schemas that apply to the same value, each once: the schema itself, the target of its `$ref`, the
   * branches of its `allOf`, and in turn the targets and branches of these schemas.
   */
  conjuncts(place: Place): readonly Place[] {
    const found = new Map<Schema, Place>();
    const waiting: Place[] = [place];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (found.has(next.schema)) continue;
      found.set(next.schema, next);
      waiting.push(...this.edges(next).filter(({ kind }) => kind === 'conjunct'));
    }
    return [...found.values()];
  }

  /**
   * Returns the target of a reference that is a JSON pointer within the schema. Returns undefined for an anchor, and
   * for a reference without a target.
   */
  target(reference: unknown): Place | undefined {
    if (typeof reference !== 'string') return undefined;
    if (!this.#targets.has(reference)) this.#targets.set(reference, this.#find(reference));
    return this.#targets.get(reference);
  }

  #find(reference: string): Place | undefined {
    const fragment = decodeURIComponent(reference.slice(1));
    if (fragment !== '' && !fragment.startsWith('/')) return undefined;
    const schema = valueAt(this.root, fragment);
    if (!isObject(schema)) return undefined;
    return { schema, pointer: fragment, at: pathOf(fragment) };
  }
}

function pathOf(pointer: string): string {
  const segments = pointer.split('/').slice(1).map(unescapeToken);
  return segments.map((segment) => `${segment}.`).join('');
}

function kindOf(keyword: string): Edge['kind'] | undefined {
  if (Object.hasOwn(structuralKinds, keyword)) return structuralKinds[keyword];
  const tests = [...testsWithSchema, ...testsWithSchemas, ...testsWithSchemasByName];
  return tests.includes(keyword) ? 'test' : undefined;
}

function isOne(keyword: string): boolean {
  return keyword === 'items' || keyword === 'additionalProperties' || testsWithSchema.includes(keyword);
}

/** Yields the schemas in a keyword's value: one schema, a list of schemas, or schemas by name. */
function* inSchemas(value: unknown, at: string, pointer: string, isSchema: boolean): Generator<Place> {
  if (isSchema) {
    if (isObject(value)) yield { schema: value, at: `${at}.`, pointer };
  } else if (Array.isArray(value)) {
    for (const [index, schema] of Array.from<unknown>(value).entries())
      if (isObject(schema))
        yield {
          schema,
          at: `${at}[${String(index)}].`,
          pointer: `${pointer}/${String(index)}`,
        };
  } else if (isObject(value)) {
    for (const [name, schema] of Object.entries(value))
      if (isObject(schema))
        yield {
          schema,
          at: `${at}.${name}.`,
          pointer: `${pointer}/${escapeToken(name)}`,
        };
  }
}

/** Returns the root schema and all schemas to which structural keywords lead from the root, each once. */
export function structuralPlaces(graph: SchemaGraph): readonly Place[] {
  return reachable(graph, [rootPlace(graph)], ({ kind }) => kind !== 'test');
}

/** Returns the schemas from which structural keywords lead, at any depth, to a schema for which `has` returns true. */
export function leadingTo(graph: SchemaGraph, has: (schema: Schema) => boolean): ReadonlySet<Schema> {
  const places = structuralPlaces(graph);
  const parents = new Map<Schema, Schema[]>();
  for (const place of places)
    for (const { kind, schema } of graph.edges(place))
      if (kind !== 'test') parents.set(schema, [...(parents.get(schema) ?? []), place.schema]);
  const leading = new Set<Schema>();
  const waiting = places.map(({ schema }) => schema).filter(has);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const parent of parents.get(next) ?? [])
      if (!leading.has(parent)) {
        leading.add(parent);
        waiting.push(parent);
      }
  return leading;
}

/**
 * Returns all schemas below a keyword that only tests a value, each with the keyword. Defaults and rules have no effect
 * in these schemas.
 */
export function testPlaces(graph: SchemaGraph): readonly (Place & { readonly keyword: string })[] {
  const entries = structuralPlaces(graph).flatMap((place) => graph.edges(place).filter(({ kind }) => kind === 'test'));
  const found = new Map<Schema, Place & { readonly keyword: string }>();
  for (const entry of entries)
    for (const place of reachable(graph, [entry], ({ schema }) => !found.has(schema)))
      if (!found.has(place.schema)) found.set(place.schema, { ...place, keyword: entry.keyword });
  return [...found.values()];
}

export function rootPlace({ root }: SchemaGraph): Place {
  return { schema: root, at: '', pointer: '' };
}

function reachable(graph: SchemaGraph, from: readonly Place[], follows: (edge: Edge) => boolean): readonly Place[] {
  const found = new Map<Schema, Place>();
  const waiting = [...from];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (found.has(next.schema)) continue;
    found.set(next.schema, next);
    waiting.push(...graph.edges(next).filter(follows));
  }
  return [...found.values()];
}

/** Whether all schemas of a value accept null, according to their types and constants. */
export function isNullable(conjuncts: readonly Place[]): boolean {
  return conjuncts.every(({ schema }) => {
    const { type, nullable, enum: allowed } = schema;
    const isTyped = type === undefined || nullable === true || type === 'null';
    const isOfTypes = isTyped || (Array.isArray(type) && type.includes('null'));
    const isListed = !Array.isArray(allowed) || allowed.includes(null);
    return isOfTypes && isListed && (!Object.hasOwn(schema, 'const') || schema['const'] === null);
  });
}
