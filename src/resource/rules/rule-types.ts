import type { Environment } from '@marcbachmann/cel-js';

import { deepEqual } from '../../base/json.ts';
import { isList, isObject } from '../../base/guards.ts';
import { unescapeToken } from '../../base/reference-token.ts';
import { objectBytesMax } from '../../limits/objects.ts';
import type { Schema } from '../schema/schema-check.ts';
import { isNullable, type Place, type SchemaGraph } from '../schema/structural.ts';
import { escapedFieldName } from './field-names.ts';
import { anything, scalar, type Shape } from './rule-shape.ts';
import {
  asAny,
  asInteger,
  asIs,
  asList,
  asMap,
  objectViewClass,
  type Convert,
  type FieldSource,
  type ObjectView,
} from './rule-values.ts';

/** The type of a value in rules: its name in the CEL library, its shape, and the conversion of JSON values. */
export type RuleType = {
  readonly name: string;
  readonly convert: Convert;
  readonly shape: Shape;
  /** The fields of an object, by the names that rules use. */
  readonly fields?: ReadonlyMap<string, RuleField>;
};

export type RuleField = FieldSource & {
  readonly type: () => RuleType;
  readonly isCertain: boolean;
};

type Member = {
  readonly name: string;
  readonly type: () => RuleType;
  readonly isCertain: boolean;
};

const anyType: RuleType = { name: 'dyn', convert: asAny, shape: anything };
const textType: RuleType = { name: 'string', convert: asIs, shape: { kind: 'text', length: objectBytesMax } };

/**
 * The types of a schema's values, declared in an environment of the CEL library. Each inner schema of objects has a
 * type of its own.
 */
export class RuleTypes {
  readonly #graph: SchemaGraph;
  readonly #environment: Environment;
  readonly #types = new Map<Schema, RuleType>();
  #objects = 0;

  constructor(graph: SchemaGraph, environment: Environment) {
    this.#graph = graph;
    this.#environment = environment;
  }

  typeOf(place: Place): RuleType {
    const present = this.#types.get(place.schema);
    if (present !== undefined) return present;
    const type = this.#declare(place);
    this.#types.set(place.schema, type);
    return type;
  }

  /**
   * Returns the type of the whole object. In addition to the members that the schema declares, rules may read only
   * `apiVersion`, `kind`, `metadata.name` and `metadata.generateName`.
   */
  rootType(root: Place): RuleType {
    const member = (name: string, type = textType, isCertain = true): Member => ({ name, type: () => type, isCertain });
    const names = [member('name'), member('generateName', textType, false)];
    const metadata = this.#objectType('metadata', root, names);
    return this.#objectType('object', root, [
      member('apiVersion'),
      member('kind'),
      member('metadata', metadata),
      ...this.#membersOf(root),
    ]);
  }

  #declare(place: Place): RuleType {
    const conjuncts = this.#graph.conjuncts(place);
    const schemas = conjuncts.map(({ schema }) => schema);
    if (schemas.some((schema) => schema['x-kubernetes-int-or-string'] === true)) return anyType;
    switch (typeIn(schemas)) {
      case 'string':
        return { ...textType, shape: { kind: 'text', length: textLength(schemas) } };
      case 'integer':
        return { name: 'int', convert: asInteger, shape: scalar };
      case 'number':
        return { name: 'double', convert: asIs, shape: scalar };
      case 'boolean':
        return { name: 'bool', convert: asIs, shape: scalar };
      case 'array':
        return this.#listType(conjuncts, schemas);
      case 'object':
        return this.#objectOrMap(place, conjuncts, schemas);
      default:
        return anyType;
    }
  }

  #listType(conjuncts: readonly Place[], schemas: readonly Schema[]): RuleType {
    const items = this.#inner(conjuncts, 'items');
    const item = items === undefined ? anyType : this.typeOf(items);
    return {
      name: `list<${item.name}>`,
      convert: asList(item.convert),
      shape: { kind: 'list', count: least(schemas, 'maxItems'), item: item.shape },
    };
  }

  #objectOrMap(place: Place, conjuncts: readonly Place[], schemas: readonly Schema[]): RuleType {
    const members = this.#membersOf(place);
    if (members.length > 0) return this.#objectType(wordOf(place), place, members);
    const values = this.#inner(conjuncts, 'additionalProperties');
    const value = values === undefined ? anyType : this.typeOf(values);
    const keys = schemas.map(({ propertyNames }) => (isObject(propertyNames) ? propertyNames : {}));
    return {
      name: `map<string, ${value.name}>`,
      convert: asMap(value.convert),
      shape: {
        kind: 'map',
        count: least(schemas, 'maxProperties'),
        key: { kind: 'text', length: textLength(keys) },
        item: value.shape,
      },
    };
  }

  /** Returns the declared members at a place, with their types. */
  #membersOf(place: Place): readonly Member[] {
    const conjuncts = this.#graph.conjuncts(place);
    const required = new Set(conjuncts.flatMap(({ schema }) => (isList(schema['required']) ? schema['required'] : [])));
    return conjuncts.flatMap((conjunct) => {
      const { properties } = conjunct.schema;
      return Object.keys(isObject(properties) ? properties : {}).map((name): Member => {
        const inner = this.#graph.inner(conjunct, 'properties', name);
        const isSet = inner !== undefined && !isNullable(this.#graph.conjuncts(inner));
        return {
          name,
          type: () => (inner === undefined ? anyType : this.typeOf(inner)),
          isCertain: isSet && required.has(name),
        };
      });
    });
  }

  #inner(conjuncts: readonly Place[], keyword: string): Place | undefined {
    return conjuncts.map((conjunct) => this.#graph.inner(conjunct, keyword)).find((inner) => inner !== undefined);
  }

  #objectType(word: string, place: Place, members: readonly Member[]): RuleType {
    this.#objects += 1;
    const name = `${word}${String(this.#objects)}`;
    const fields = new Map<string, RuleField>();
    for (const { name: member, type, isCertain } of members) {
      const field = escapedFieldName(member);
      if (field !== undefined && !fields.has(field))
        fields.set(field, { member, type, isCertain, convert: () => type().convert });
    }
    const View = objectViewClass(fields);
    const type: RuleType = {
      name,
      convert: (value) => (isObject(value) ? new View(value) : asIs(value)),
      shape: {
        kind: 'object',
        fields: new Map(
          [...fields].map(([field, { type: ofField, isCertain }]) => [
            field,
            { shape: () => ofField().shape, isCertain },
          ]),
        ),
      },
      fields,
    };
    // The type is recorded before the types of its members are computed, because a member may have the same schema.
    if (word !== 'object' && word !== 'metadata') this.#types.set(place.schema, type);
    const names = [...fields].map(([field, source]): [string, string] => [field, source.type().name]);
    this.#environment.registerType(name, { ctor: View, fields: Object.fromEntries(names) });
    this.#environment.registerOperator(`${name} == ${name}: bool`, (left: ObjectView, right: ObjectView) =>
      deepEqual(left.raw, right.raw),
    );
    return type;
  }
}

/**
 * Returns the first `type` that one of the schemas declares. From an array of types, returns the only entry other than
 * `null`; undefined with several such entries. Without a declared `type`, returns `object` if a schema has properties.
 */
function typeIn(schemas: readonly Schema[]): unknown {
  for (const { type } of schemas) {
    if (typeof type === 'string') return type;
    if (Array.isArray(type)) {
      const others = type.filter((each) => each !== 'null');
      return others.length === 1 ? others[0] : undefined;
    }
  }
  return schemas.some(({ properties }) => isObject(properties)) ? 'object' : undefined;
}

function least(schemas: readonly Schema[], keyword: string): number {
  const bounds = schemas.map((schema) => schema[keyword]).filter((bound) => typeof bound === 'number');
  return Math.min(objectBytesMax, ...bounds);
}

/** Returns the maximum length in code units. A character of `maxLength` takes up to two code units. */
function textLength(schemas: readonly Schema[]): number {
  const listed = schemas.flatMap(({ enum: values, const: value }) => [
    ...(Array.isArray(values) ? [longest(values)] : []),
    ...(typeof value === 'string' ? [value.length] : []),
  ]);
  return Math.min(objectBytesMax, 2 * least(schemas, 'maxLength'), ...listed);
}

function longest(values: readonly unknown[]): number {
  return Math.max(0, ...values.map((value) => (typeof value === 'string' ? value.length : 0)));
}

/**
 * Returns the first part of a type's name, which appears in messages: the name of the last member on the path to the
 * type.
 */
function wordOf({ pointer }: Place): string {
  const words = pointer
    .split('/')
    .map(unescapeToken)
    .filter((word) => /^[A-Za-z][A-Za-z_]*$/u.test(word) && word !== 'items' && word !== 'properties');
  return `${words.at(-1) ?? 'value'}_`;
}
