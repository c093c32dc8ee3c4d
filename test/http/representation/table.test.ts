import fc from 'fast-check';
import { test } from 'tap';

import { ageOf } from '../../../src/http/representation/human-duration.ts';
import { plainObjects, type IncludedObject } from '../../../src/http/representation/negotiate.ts';
import type { Representation } from '../../../src/http/representation/representation.ts';
import { representationOf } from '../../../src/http/representation/representation-of.ts';
import { tableCellCharactersMax } from '../../../src/limits/lists.ts';
import { valueAt } from '../../../src/resource/object/json-pointer.ts';
import type { PrinterColumn, ResourceType } from '../../../src/resource/type/resource-type.ts';
import { widgetType } from '../../support/watched-type.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

function typeWith(printerColumns: readonly PrinterColumn[]): ResourceType {
  return { ...widgetType(), printerColumns };
}

function tableOf(columns: readonly PrinterColumn[], include: IncludedObject = 'Metadata'): Representation {
  return representationOf(typeWith(columns), { ...plainObjects, shape: 'table', include })!;
}

type Row = { cells: unknown[]; object: Record<string, unknown> | null };

function rowsOf(form: Representation, objects: readonly unknown[]): Row[] {
  const items = Buffer.from(objects.map((object) => JSON.stringify(object)).join(','));
  return JSON.parse(`[${form.items(items, now).bytes.toString('utf8')}]`) as Row[];
}

function named(name: string, members: object = {}) {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { resourceVersion: '7', name, creationTimestamp: '2026-03-01T11:59:00.000Z' },
    ...members,
  };
}

/** The rules of cells in other words: on the parsed value, without the bytes. */
function expectedCell(type: PrinterColumn['type'], value: unknown): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) + 0 : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, now).text : null;
    default:
      return typeof value === type ? value : null;
  }
}

const names = fc.constantFrom('a', 'b', '0', '1', 'a/b', 'm~n', 'ä', 'q"q', 'x\\', '__x', '𝒳');
const { value: jsonValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, '', '2026-03-01T11:00:00Z', 'text', '}{][",:\\'),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const pointer = fc
  .array(names, { minLength: 1, maxLength: 4 })
  .map((segments) => `/spec/${segments.map((one) => one.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`);
const column: fc.Arbitrary<PrinterColumn> = fc.record(
  {
    name: fc.string({ minLength: 1, maxLength: 5 }),
    type: fc.constantFrom<PrinterColumn['type']>('string', 'integer', 'number', 'boolean', 'date'),
    pointer,
  },
  { noNullPrototype: true },
);

test('the rows are the objects in order, and the cells the values at the pointers', async (t) => {
  fc.assert(
    fc.property(fc.array(column, { maxLength: 4 }), fc.array(jsonValue, { maxLength: 4 }), (columns, specs) => {
      const objects = specs.map((spec, index) => named(`w${String(index)}`, { spec, status: { spec } }));
      const rows = rowsOf(tableOf(columns, 'Object'), objects);
      t.strictSame(
        rows.map(({ object }) => object),
        JSON.parse(JSON.stringify(objects)),
      );
      const hasAge = columns.some(({ name }) => name.toLowerCase() === 'age');
      for (const [index, { cells }] of rows.entries()) {
        const stored: unknown = JSON.parse(JSON.stringify(objects[index]));
        const values = columns.map(({ type, pointer: at }) => expectedCell(type, valueAt(stored, at)));
        t.strictSame(cells, [`w${String(index)}`, ...values, ...(hasAge ? [] : ['60s'])]);
      }
    }),
    { numRuns: 300 },
  );
});

test('a row carries the metadata, the object or nothing, as asked', async (t) => {
  const object = named('w', { spec: { metadata: { name: 'not this one' } } });
  t.strictSame(rowsOf(tableOf([], 'None'), [object]), [{ cells: ['w', '60s'], object: null }]);
  t.strictSame(rowsOf(tableOf([], 'Object'), [object]), [{ cells: ['w', '60s'], object }]);
  const { metadata } = object;
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  t.strictSame(rowsOf(tableOf([]), [object]), [{ cells: ['w', '60s'], object: partial }]);
  const bare = representationOf(typeWith([]), { ...plainObjects, shape: 'metadata', version: 'v1beta1' })!;
  t.strictSame(JSON.parse(`[${bare.items(Buffer.from(JSON.stringify(object)), now).bytes.toString()}]`), [
    { ...partial, apiVersion: 'meta.k8s.io/v1beta1' },
  ]);
});

test('a column that the type calls Age replaces the one of the platform', async (t) => {
  const form = tableOf([{ name: 'AGE', type: 'date', pointer: '/spec/since', priority: 1, format: 'date-time' }]);
  t.strictSame(rowsOf(form, [named('w', { spec: { since: '2026-03-01T09:00:00Z' } })])[0]?.cells, ['w', '3h']);
  const { columnDefinitions } = JSON.parse(`{${form.listOpening.slice(1)}]}`) as {
    columnDefinitions: { name: string; format: string; priority: number }[];
  };
  t.match(columnDefinitions, [
    { name: 'Name', type: 'string', format: 'name', priority: 0 },
    { name: 'AGE', type: 'date', format: 'date-time', description: '', priority: 1 },
  ]);
  t.equal(columnDefinitions.length, 2);
});

test('long cells are cut to a whole character', async (t) => {
  const form = tableOf([{ name: 'Text', type: 'string', pointer: '/spec' }]);
  const cell = (spec: unknown) => rowsOf(form, [named('w', { spec })])[0]?.cells[1];
  const longest = 'x'.repeat(tableCellCharactersMax);
  t.equal(cell(longest), longest);
  t.equal(cell(`${longest}y`), `${longest.slice(1)}…`);
  t.equal(cell('ä'.repeat(tableCellCharactersMax)), 'ä'.repeat(tableCellCharactersMax), 'characters, not bytes');
  t.equal(cell('𝒳'.repeat(tableCellCharactersMax)), `${'𝒳'.repeat(tableCellCharactersMax / 2 - 1)}…`);
  t.equal(cell([longest]), `["${longest.slice(3)}…`);
  const date = tableOf([{ name: 'Since', type: 'date', pointer: '/spec' }]);
  t.equal(rowsOf(date, [named('w', { spec: longest })])[0]?.cells[1], '<invalid>');
});

test('a table is right until the first of its ages changes', async (t) => {
  const items = (ages: readonly string[]) =>
    Buffer.from(
      ages
        .map((creationTimestamp) =>
          JSON.stringify({ metadata: { resourceVersion: '1', name: 'w', creationTimestamp } }),
        )
        .join(','),
    );
  const { until } = tableOf([]).items(items(['2026-02-28T12:00:00Z', '2026-03-01T11:30:20Z']), now);
  t.equal(until, now + 20_000, 'the second one, 29 minutes and 40 seconds old');
  t.equal(tableOf([]).items(Buffer.alloc(0), now).until, Infinity);
});

test('an object without a resourceVersion, or without metadata, makes a whole document', async (t) => {
  for (const shape of ['table', 'metadata'] as const)
    for (const object of [{ metadata: { name: 'w' } }, { metadata: {} }, { kind: 'Widget' }, {}]) {
      const form = representationOf(typeWith([]), { ...plainObjects, shape, include: 'Metadata' })!;
      const bytes = Buffer.from(JSON.stringify(object));
      const { metadata = {} } = object as { metadata?: object };
      const partial = { kind: 'PartialObjectMetadata', metadata };
      for (const shown of [form.object(bytes, now), form.laterObject?.(bytes, now) ?? form.object(bytes, now)]) {
        const document = JSON.parse(shown.toString('utf8')) as object;
        t.match(
          document,
          shape === 'metadata' ? partial : { metadata: { resourceVersion: '' }, rows: [{ object: partial }] },
        );
      }
      const items = JSON.parse(`[${form.items(bytes, now).bytes.toString('utf8')}]`) as object[];
      t.match(items, shape === 'metadata' ? [partial] : [{ object: partial }]);
    }
});
