import { isList, isObject } from '../../base/guards.ts';
import type { Schema } from '../../resource/schema/schema-check.ts';
import { holdsReference, withoutReference } from './reference-words.ts';
import { allOf, anyOf, anything, conditional, isAnything, not, oneOf, unknown, type Translated } from './translated.ts';

export type Reading = {
  readonly schema: Schema;
  /** The members of the result. */
  readonly out: Record<string, unknown>;
  /** Further schemas that apply to the same value. */
  readonly parts: Translated[];
  isExact: boolean;
  weight: number;
  readonly translate: (schema: unknown) => Translated;
  readonly reference: (ref: string) => Translated;
};

type Reader = (reading: Reading, value: unknown) => void;

const ignored: Reader = () => undefined;
const same =
  (keyword: string): Reader =>
  ({ out }, value) => {
    out[keyword] = value;
  };
const weighed =
  (keyword: string): Reader =>
  (reading, value) => {
    if (holdsReference(value)) return;
    reading.out[keyword] = value;
    reading.weight += weigh(value);
  };
/** Reads a keyword with schemas that apply to the whole value, such as `allOf`. */
const applied =
  (combine: (parts: readonly Translated[]) => Translated): Reader =>
  ({ parts, translate }, value) => {
    if (isList(value)) parts.push(combine(value.map(translate)));
  };

/** The number of bytes of a copied value that count as much as one schema. */
const valueBytes = 16;

/** Returns the weight (`Translated.weight`) of a value that is copied into the document. */
export function weigh(value: unknown): number {
  return 1 + Math.ceil(JSON.stringify(value).length / valueBytes);
}

/**
 * Readers by keyword of JSON Schema 2020-12. A keyword without a reader is dropped and makes the translation inexact,
 * unless the keyword is an extension (`x-`). A `pattern` is dropped if its expression is not portable, because some
 * clients use another dialect of regular expressions.
 */
export const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...['$schema', '$comment', '$defs', 'definitions', '$anchor', '$dynamicAnchor', '$vocabulary'].map(ignore),
  ...['examples', 'contentMediaType', 'contentEncoding', 'contentSchema', 'then', 'else'].map(ignore),
  ...['xml', 'externalDocs'].map(ignore),
  ...['title', 'description', 'deprecated', 'readOnly', 'writeOnly', 'format'].map(keep),
  ...['multipleOf', 'maxLength', 'minLength', 'maxItems', 'minItems', 'uniqueItems'].map(keep),
  ...['maxProperties', 'minProperties'].map(keep),
  ['default', weighed('default')],
  ['example', weighed('example')],
  ['pattern', readPattern],
  ['type', readType],
  ['nullable', ignored],
  ['enum', ({ parts }, value) => parts.push(oneOfValues(value))],
  ['const', ({ parts }, value) => parts.push(oneOfValues([value]))],
  [
    'minimum',
    (reading) => {
      readBound(reading, 'minimum', 'exclusiveMinimum');
    },
  ],
  [
    'exclusiveMinimum',
    (reading) => {
      readBound(reading, 'minimum', 'exclusiveMinimum');
    },
  ],
  [
    'maximum',
    (reading) => {
      readBound(reading, 'maximum', 'exclusiveMaximum');
    },
  ],
  [
    'exclusiveMaximum',
    (reading) => {
      readBound(reading, 'maximum', 'exclusiveMaximum');
    },
  ],
  ['items', readItems],
  [
    'prefixItems',
    (reading) => {
      reading.isExact = false;
    },
  ],
  ['properties', readProperties],
  ['additionalProperties', readAdditional],
  [
    'required',
    ({ out }, value) => {
      if (isList(value) && value.length > 0) out['required'] = value;
    },
  ],
  ['allOf', applied(allOf)],
  ['anyOf', applied(anyOf)],
  ['oneOf', applied(oneOf)],
  ['not', ({ parts, translate }, value) => parts.push(not(translate(value)))],
  ['if', readCondition],
  ['dependentRequired', readDependentRequired],
  ['dependentSchemas', readDependentSchemas],
  ['$ref', ({ parts, reference }, value) => parts.push(typeof value === 'string' ? reference(value) : unknown)],
]);

function oneOfValues(values: unknown): Translated {
  return holdsReference(values) ? unknown : { schema: { enum: values }, isExact: true, weight: weigh(values) };
}

function ignore(keyword: string): readonly [string, Reader] {
  return [keyword, ignored];
}

function keep(keyword: string): readonly [string, Reader] {
  return [keyword, same(keyword)];
}

/** Reads `type`. OpenAPI 3.0 allows a single type, and `nullable` in addition. */
function readType({ out, parts, schema }: Reading, value: unknown): void {
  const names = isList(value) ? value : [value];
  const isNullable = names.includes('null') || schema['nullable'] === true;
  const types = names.filter((name) => name !== 'null');
  const nullable = isNullable ? { nullable: true } : {};
  const [type] = types;
  if (type === undefined) {
    parts.push({
      schema: { type: 'string', nullable: true, enum: [null] },
      isExact: true,
      weight: 1,
    });
  } else if (types.length === 1) {
    Object.assign(out, { type, ...nullable });
  } else {
    const each = types.map((name) => ({
      type: name,
      ...(name === 'array' ? { items: {} } : {}),
      ...nullable,
    }));
    parts.push({ schema: { anyOf: each }, isExact: true, weight: types.length });
  }
}

/** Reads a bound. In OpenAPI 3.0, an additional boolean keyword makes a bound exclusive. */
function readBound({ out, schema }: Reading, bound: 'minimum' | 'maximum', flag: string): void {
  const [inclusive, exclusive] = [schema[bound], schema[flag]];
  if (typeof exclusive !== 'number') {
    out[bound] = inclusive;
    return;
  }
  const isStricter =
    typeof inclusive === 'number' && (bound === 'minimum' ? inclusive > exclusive : inclusive < exclusive);
  Object.assign(out, isStricter ? { [bound]: inclusive } : { [bound]: exclusive, [flag]: true });
}

/**
 * Reads `items`. Next to `prefixItems`, `items` applies only to the rest of the array. OpenAPI 3.0 cannot express this,
 * so `items` is then dropped.
 */
function readItems(reading: Reading, value: unknown): void {
  if (reading.schema['prefixItems'] !== undefined) return;
  const items = reading.translate(value);
  reading.out['items'] = items.schema;
  take(reading, items);
}

function readProperties(reading: Reading, value: unknown): void {
  if (!isObject(value)) return;
  if (Object.hasOwn(value, '$ref')) reading.isExact = false;
  reading.out['properties'] = Object.fromEntries(
    Object.entries(withoutReference(value)).map(([name, schema]) => {
      const property = reading.translate(schema);
      take(reading, property);
      return [name, property.schema];
    }),
  );
}

/**
 * Reads `additionalProperties` together with `patternProperties`, which OpenAPI 3.0 lacks. In the result, an undeclared
 * member must match `additionalProperties` or the schema of any pattern.
 */
function readAdditional(reading: Reading, value: unknown): void {
  const { patternProperties, properties } = reading.schema;
  if (isObject(properties) && Object.hasOwn(properties, '$ref')) {
    reading.isExact = false;
    return;
  }
  const patterns = isObject(patternProperties) ? Object.values(patternProperties) : [];
  if (patterns.length === 0 && typeof value === 'boolean') {
    reading.out['additionalProperties'] = value;
    return;
  }
  const others = value === false && patterns.length > 0 ? [] : [value];
  const additional = anyOf([...patterns, ...others].map(reading.translate));
  take(reading, additional);
  if (patterns.length > 0) reading.isExact = false;
  reading.out['additionalProperties'] = isAnything(additional) ? true : additional.schema;
}

function readCondition({ schema, parts, translate }: Reading, value: unknown): void {
  const then = schema['then'] === undefined ? anything : translate(schema['then']);
  const otherwise = schema['else'] === undefined ? anything : translate(schema['else']);
  if (isAnything(then) && isAnything(otherwise))
    parts.push({ ...anything, isExact: then.isExact && otherwise.isExact });
  else parts.push(conditional(translate(value), then, otherwise));
}

function readDependentRequired({ parts }: Reading, value: unknown): void {
  if (!isObject(value)) return;
  for (const [member, required] of Object.entries(value)) {
    if (!isList(required) || required.length === 0) continue;
    parts.push(anyOf([lacks(member), { schema: { required }, isExact: true, weight: weigh(required) }]));
  }
}

function readDependentSchemas({ parts, translate }: Reading, value: unknown): void {
  if (!isObject(value)) return;
  for (const [member, schema] of Object.entries(value)) parts.push(anyOf([lacks(member), translate(schema)]));
}

/** Returns a schema for all values that are not objects with this member. */
function lacks(member: string): Translated {
  return {
    schema: { not: { type: 'object', required: [member] } },
    isExact: true,
    weight: 3,
  };
}

function take(reading: Reading, inner: Translated): void {
  reading.weight += inner.weight;
  reading.isExact &&= inner.isExact;
}

/** Constructs that other dialects of regular expressions lack, or interpret differently without the flag `u`. */
const unportable = /\\[pPk]|\\u\{|\(\?<|[\u{10000}-\u{10ffff}]|\\ud[89a-f]/iu;

function readPattern(reading: Reading, value: unknown): void {
  if (typeof value === 'string' && !unportable.test(value)) reading.out['pattern'] = value;
  else reading.isExact = false;
}
