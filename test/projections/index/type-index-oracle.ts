import fc from 'fast-check';
import { defineIndexes } from '../../../src/resource/type/index-definition.ts';
import type { FieldRequirement, LabelRequirement, SortKey } from '../../../src/resource/query/list-query.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import { bindFields } from '../../../src/resource/query/bind-fields.ts';
import { parseSort } from '../../../src/resource/query/sort-keys.ts';
import type { IndexDefinition } from '../../../src/resource/type/resource-type.ts';

/** What a list should answer, from plain objects by filtering and sorting: slow, and hard to get wrong. */

type Value = string | number | boolean;
export type FieldKind = 'string' | 'number' | 'boolean' | 'timestamp';
export type Field = { readonly name: string; readonly kind: FieldKind; readonly multi: boolean };

export const fields: readonly Field[] = [
  { name: 'spec.title', kind: 'string', multi: false },
  { name: 'spec.size', kind: 'number', multi: false },
  { name: 'spec.open', kind: 'boolean', multi: false },
  { name: 'spec.due', kind: 'timestamp', multi: false },
  { name: 'spec.tags', kind: 'string', multi: true },
  { name: 'spec.scores', kind: 'number', multi: true },
];

export const defaultFields: readonly Field[] = [
  { name: 'metadata.name', kind: 'string', multi: false },
  { name: 'metadata.creationTimestamp', kind: 'timestamp', multi: false },
  { name: 'metadata.deletionTimestamp', kind: 'timestamp', multi: false },
];

export function definitionsOf(declared: readonly Field[]): readonly IndexDefinition[] {
  const defined = defineIndexes(declared.map(({ name, kind, multi }) => ({ name, type: kind, multi })));
  if (!defined.ok) throw new Error(defined.problems.join('; '));
  return defined.indexes;
}

export const texts = [
  '',
  'a',
  'ab',
  'abc',
  'b',
  'z',
  '\u00e9',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{1f600}',
  '\u{1f600}a',
  '\u{10ffff}',
  'a\u{1f600}',
  'a\ufffe',
  'comma, (paren) = \\',
];
const days = [
  '2024-01-01T00:00:00Z',
  '2024-01-01T00:00:00.001Z',
  '2024-01-01T01:00:00+01:00',
  '2025-06-30T23:59:59Z',
  '1999-12-31T00:00:00Z',
];

export function valueOf(kind: FieldKind): fc.Arbitrary<Value> {
  switch (kind) {
    case 'string':
      return fc.constantFrom(...texts);
    case 'number':
      return fc.constantFrom(-1e300, -5, -0.5, 0, 1, 2, 10, 1e21);
    case 'boolean':
      return fc.boolean();
    case 'timestamp':
      return fc.constantFrom(...days);
  }
}

export const labelKeys = ['app', 'tier', 'example.org/app', 'constructor'];
const labelValues = ['', 'a', 'b', 'a b', '\u{1f600}', '\uffff'];

export const objectOf = (declared: readonly Field[], name: fc.Arbitrary<string>): fc.Arbitrary<ResourceObject> =>
  fc
    .record({
      name,
      created: fc.integer({ min: 0, max: 5 }),
      deleted: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined, freq: 3 }),
      labels: fc.dictionary(fc.constantFrom(...labelKeys), fc.constantFrom(...labelValues), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
      spec: fc.tuple(
        ...declared.map(({ kind, multi }) =>
          multi ? fc.array(valueOf(kind), { maxLength: 4 }) : fc.option(valueOf(kind), { nil: undefined, freq: 4 }),
        ),
      ),
    })
    .map(({ name: objectName, created, deleted, labels, spec }) => ({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: {
        name: objectName,
        uid: 'u',
        version: 0,
        generation: 1,
        labels,
        creationTimestamp: new Date(1_700_000_000_000 + created).toISOString(),
        ...(deleted === undefined ? {} : { deletionTimestamp: new Date(1_800_000_000_000 + deleted).toISOString() }),
      },
      spec: Object.fromEntries(declared.map((field, index) => [field.name.slice('spec.'.length), spec[index]])),
    }));

export type NaiveSort = {
  readonly field: Field;
  readonly direction: 'asc' | 'desc';
  readonly nulls: 'first' | 'last' | undefined;
};
export type NaiveQuery = {
  readonly labels: readonly LabelRequirement[];
  readonly fields: readonly FieldRequirement[];
  readonly sort: readonly NaiveSort[];
};

const operators = ['<', '<=', '>', '>='] as const;

function fieldRequirementOf(field: Field): fc.Arbitrary<FieldRequirement> {
  const operand = valueOf(field.kind).map(String);
  const odd = fc.oneof(
    { arbitrary: operand, weight: 9 },
    { arbitrary: fc.constant('no value of any kind'), weight: 1 },
  );
  return fc.oneof(
    fc.record({
      field: fc.constant(field.name),
      operator: fc.constantFrom('in' as const, 'notIn' as const),
      values: fc.array(odd, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ field: fc.constant(field.name), operator: fc.constantFrom('exists' as const, 'absent' as const) }),
    fc.record({ field: fc.constant(field.name), operator: fc.constantFrom(...operators), value: odd }),
    ...(field.kind === 'string'
      ? [fc.record({ field: fc.constant(field.name), operator: fc.constant('^=' as const), value: operand })]
      : []),
  );
}

const labelRequirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({
    key: fc.constantFrom(...labelKeys),
    operator: fc.constantFrom('in' as const, 'notIn' as const),
    values: fc.uniqueArray(fc.constantFrom(...labelValues), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key: fc.constantFrom(...labelKeys), operator: fc.constantFrom('exists' as const, 'absent' as const) }),
);

export function queryOf(declared: readonly Field[]): fc.Arbitrary<NaiveQuery> {
  const field = fc.constantFrom(...defaultFields, ...declared);
  return fc.record({
    labels: fc.array(labelRequirement, { maxLength: 2 }),
    fields: fc.array(field.chain(fieldRequirementOf), { maxLength: 2 }),
    sort: fc.array(
      fc.record({
        field,
        direction: fc.constantFrom('asc' as const, 'desc' as const),
        nulls: fc.constantFrom(undefined, 'first' as const, 'last' as const),
      }),
      { maxLength: 3 },
    ),
  });
}

/** The same question to the index. */
export function boundQuery(
  query: NaiveQuery,
  definitions: readonly IndexDefinition[],
): {
  readonly selection: {
    readonly labels: readonly LabelRequirement[];
    readonly fields: Extract<ReturnType<typeof bindFields>, { ok: true }>['requirements'];
  };
  readonly sort: readonly SortKey[];
} {
  const bound = bindFields(query.fields, definitions);
  if (!bound.ok) throw new Error(bound.problem);
  const texts = query.sort.map(
    ({ field, direction, nulls }) => `${field.name},${direction}${nulls === undefined ? '' : `,nulls=${nulls}`}`,
  );
  const sorted = parseSort(texts, definitions);
  if (!sorted.ok) throw new Error(sorted.problem);
  return { selection: { labels: query.labels, fields: bound.requirements }, sort: sorted.sort };
}

/** All names selected, in order. */
export function naiveNames(objects: Iterable<ResourceObject>, query: NaiveQuery): readonly string[] {
  const selected = [...objects].filter(
    (object) =>
      query.labels.every((requirement) => labelHolds(object, requirement)) &&
      query.fields.every((requirement) => fieldHolds(object, requirement)),
  );
  return selected.sort((a, b) => compareBy(a, b, query.sort)).map(({ metadata }) => metadata.name);
}

function labelHolds({ metadata: { labels = {} } }: ResourceObject, requirement: LabelRequirement): boolean {
  const present = Object.keys(labels).includes(requirement.key);
  if (requirement.operator === 'exists') return present;
  if (requirement.operator === 'absent') return !present;
  const among = present && 'values' in requirement && requirement.values.includes(labels[requirement.key]!);
  return requirement.operator === 'in' ? among : !among;
}

function fieldHolds(object: ResourceObject, requirement: FieldRequirement): boolean {
  const field = [...defaultFields, ...fields].find(({ name }) => name === requirement.field)!;
  const values = valuesOf(object, field);
  const isValue = (value: Value, text: string): boolean =>
    isOfKind(field.kind, text) && compareValues(field.kind, value, text) === 0;
  switch (requirement.operator) {
    case 'exists':
      return values.length > 0;
    case 'absent':
      return values.length === 0;
    case 'in':
      return values.some((value) => requirement.values.some((text) => isValue(value, text)));
    case 'notIn':
      return !values.some((value) => requirement.values.some((text) => isValue(value, text)));
    case '^=':
      return values.some(
        (value) =>
          Array.from(String(value)).slice(0, Array.from(requirement.value).length).join('') === requirement.value,
      );
    default:
      return (
        isOfKind(field.kind, requirement.value) &&
        values.some((value) => holdsBetween(compareValues(field.kind, value, requirement.value), requirement.operator))
      );
  }
}

function holdsBetween(compared: number, operator: string): boolean {
  if (operator === '<') return compared < 0;
  if (operator === '<=') return compared <= 0;
  return operator === '>' ? compared > 0 : compared >= 0;
}

function isOfKind(kind: FieldKind, text: string): boolean {
  return kind === 'string' || !Number.isNaN(numberOf(kind, text));
}

function numberOf(kind: FieldKind, value: Value): number {
  if (kind === 'timestamp') return Date.parse(String(value));
  if (kind === 'boolean')
    return ['false', 'true'].indexOf(String(value)) === -1 ? Number.NaN : ['false', 'true'].indexOf(String(value));
  return value === '' ? Number.NaN : Number(value);
}

function compareValues(kind: FieldKind, a: Value, b: Value): number {
  return kind === 'string' ? compareCodePoints(String(a), String(b)) : Math.sign(numberOf(kind, a) - numberOf(kind, b));
}

export function compareCodePoints(a: string, b: string): number {
  const left = Array.from(a);
  const right = Array.from(b);
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = left[index]!.codePointAt(0)! - right[index]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function valuesOf({ metadata, spec }: ResourceObject, field: Field): readonly Value[] {
  const [section, member] = field.name.split('.') as [string, string];
  const value = ((section === 'metadata' ? metadata : spec) as Record<string, unknown>)[member] as
    Value | readonly Value[] | undefined;
  const values = value === undefined ? [] : Array.isArray(value) ? (value as Value[]) : [value as Value];
  return [...values].sort((a, b) => compareValues(field.kind, a, b));
}

function compareBy(a: ResourceObject, b: ResourceObject, sort: readonly NaiveSort[]): number {
  for (const { field, direction, nulls = direction === 'asc' ? 'last' : 'first' } of sort) {
    const [first, second] = [
      valuesOf(a, field).at(direction === 'asc' ? 0 : -1),
      valuesOf(b, field).at(direction === 'asc' ? 0 : -1),
    ];
    if (first === undefined || second === undefined) {
      if (first === second) continue;
      return (first === undefined) === (nulls === 'first') ? -1 : 1;
    }
    const ascending = compareValues(field.kind, first, second);
    if (ascending !== 0) return direction === 'asc' ? ascending : -ascending;
  }
  const created = Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp);
  return created !== 0 ? created : compareCodePoints(a.metadata.name, b.metadata.name);
}
