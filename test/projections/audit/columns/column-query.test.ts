import fc from 'fast-check';
import { test } from 'tap';

import { layoutOf, type ColumnLayout } from '../../../../projections/audit/columns/segment/column-layout.ts';
import { queryColumns } from '../../../../projections/audit/columns/query/column-query.ts';
import { entryAt, Segment, type Segments } from '../../../../projections/audit/columns/segment/segment.ts';
import { encodeSegment, type ValueRow } from '../../../../projections/audit/columns/segment/segment-writer.ts';
import { TypeIndex } from '../../../../projections/index/type-index.ts';
import { atOnce } from '../../../../src/base/steps.ts';
import type { ResourceObject } from '../../../../src/resource/object/object.ts';
import type { ListQuery, OrderPlace } from '../../../../src/resource/query/list-query.ts';
import { entryOf } from '../../../../src/resource/type/index-definition.ts';
import type { IndexDefinition } from '../../../../src/resource/type/resource-type.ts';
import { drawn, random } from '../../index/drawn-objects.ts';
import { boundQuery, definitionsOf, fields, naiveNames, objectOf, queryOf } from '../../index/type-index-oracle.ts';
import { NumberPages } from '../../../../projections/audit/columns/query/numbers.ts';

/** All queries share their pages, so that each query meets pages with the numbers of earlier queries. */
const reused = new NumberPages();

const numRuns = Number(process.env['PBT_RUNS'] ?? 150);

const ordinals = fc.integer({ min: 0, max: 20 });
const declaredFields = fc.shuffledSubarray([...fields]);

type Write = { readonly ordinal: number; readonly distance: number; readonly object: ResourceObject | undefined };

const scenarios = declaredFields.chain((declared) =>
  fc.record({
    declared: fc.constant(declared),
    writes: fc.array(
      ordinals.chain((ordinal) =>
        fc.record({
          ordinal: fc.constant(ordinal),
          distance: fc.constantFrom(1, 2, 300, 70_000, 5_000_000_000),
          object: fc.option(objectOf(declared, fc.constant(`thing-${String(ordinal)}`)), { nil: undefined, freq: 4 }),
        }),
      ),
      { maxLength: 60 },
    ),
    /** How many writes a segment has, and after how many the snapshot is taken. */
    size: fc.integer({ min: 1, max: 20 }),
    snapshot: fc.integer({ min: 0, max: 60 }),
    at: fc.integer({ min: 0, max: 60 }),
    queries: fc.array(queryOf(declared), { minLength: 1, maxLength: 5 }),
    limit: fc.integer({ min: 1, max: 7 }),
  }),
);

function rowsOf(writes: readonly Write[], definitions: readonly IndexDefinition[]): readonly ValueRow[] {
  let position = 0;
  return writes.map(({ ordinal, distance, object }) => {
    position += distance;
    return { position, ordinal, entry: object === undefined ? undefined : entryOf(definitions, object) };
  });
}

function encoded(rows: readonly ValueRow[], layout: readonly ColumnLayout[], size: number): readonly Buffer[] {
  const segments: Buffer[] = [];
  for (let from = 0; from < rows.length; from += size)
    segments.push(atOnce(encodeSegment(rows.slice(from, from + size), layout)));
  return segments;
}

/** As tables return them: a read overwrites the bytes of the one before. */
function segmentsOf(segments: readonly Buffer[]): Segments {
  const shared = Buffer.alloc(Math.max(0, ...segments.map(({ length }) => length)));
  return {
    count: segments.length,
    read: (number) => {
      const bytes = segments[number] ?? Buffer.alloc(0);
      shared.fill(0xff);
      bytes.copy(shared);
      return shared.subarray(0, bytes.length);
    },
  };
}

test('a query at a position is answered as by filtering and sorting the objects of that moment', (t) => {
  fc.assert(
    fc.property(scenarios, ({ declared, writes, size, snapshot, at, queries, limit }) => {
      const definitions = definitionsOf(declared);
      const layout = layoutOf(definitions);
      const rows = rowsOf(writes, definitions);
      const shown = Math.min(at, writes.length);
      const cut = Math.min(snapshot, shown);
      const objectsAfter = (count: number): Map<number, number> => {
        const last = new Map<number, number>();
        for (const [place, { ordinal, object }] of writes.slice(0, count).entries()) {
          if (object === undefined) last.delete(ordinal);
          else last.set(ordinal, place);
        }
        return last;
      };
      const alive = [...objectsAfter(cut).values()].sort((a, b) => writes[a]!.ordinal - writes[b]!.ordinal);
      const held = {
        layout,
        snapshot: segmentsOf(
          encoded(
            alive.map((place) => ({ ...rows[place]!, position: 0 })),
            layout,
            size,
          ),
        ),
        changes: segmentsOf(encoded(rows.slice(cut), layout, size)),
      };
      const position = shown === 0 ? 0 : rows[shown - 1]!.position;
      const objects = [...objectsAfter(shown).values()].map((place) => writes[place]!.object!);
      for (const query of queries) {
        const expected = naiveNames(objects, query);
        const bound = boundQuery(query, definitions);
        const ask = (window: ListQuery['window']): ReturnType<TypeIndex['query']> =>
          atOnce(queryColumns(held, position, { ...bound, window }, reused));
        if (ask({ kind: 'all' }).names.join() !== expected.join()) return false;
        const index = new TypeIndex(definitions);
        for (const object of objects) index.put(entryOf(definitions, object));
        const pages = Array.from({ length: 3 }, (_none, page) => ({
          kind: 'page' as const,
          page: page + 1,
          size: limit,
        }));
        for (const window of pages)
          t.same(ask(window), index.query({ ...bound, window }), 'a page is that of the live index');
        let after: OrderPlace | undefined;
        do {
          const window = { kind: 'after' as const, limit, after };
          const page = ask(window);
          t.same(page, index.query({ ...bound, window }), 'a page of a chain is that of the live index');
          after = page.next;
        } while (after !== undefined);
      }
      return true;
    }),
    { numRuns },
  );
  t.end();
});

test('a place in the order need not be an object any more', (t) => {
  const definitions = definitionsOf(fields);
  const below = random(7);
  const layout = layoutOf(definitions);
  const objects = Array.from({ length: 3_000 }, (_none, number) => drawn(below, number));
  const rows = objects.map((object, ordinal) => ({ position: ordinal, ordinal, entry: entryOf(definitions, object) }));
  const index = new TypeIndex(definitions);
  for (const { entry } of rows) index.put(entry);
  const held = { layout, snapshot: segmentsOf(encoded(rows, layout, 500)), changes: segmentsOf([]) };
  const sorts = [
    { index: 3, direction: 'desc' as const },
    { index: 8, direction: 'asc' as const, nulls: 'first' as const },
  ];
  for (const sort of [[], sorts, sorts.slice(1)]) {
    const query = { selection: { labels: [], fields: [] }, sort };
    const places = [10, 1_500, 2_990].map((number) => ({
      keys: sort.map(({ index: place }) => entryOf(definitions, drawn(random(number), number)).keys[place]?.[0]),
      created: 1_700_000_000_000 + (number % 500),
      name: `thing-${String(number)}-and-more`,
    }));
    for (const after of [undefined, ...places]) {
      const window = { kind: 'after' as const, limit: 700, after };
      t.same(atOnce(queryColumns(held, 0, { ...query, window }, reused)), index.query({ ...query, window }));
    }
  }
  t.end();
});

test('a row of a segment gives the index entry back', (t) => {
  fc.assert(
    fc.property(
      declaredFields.chain((declared) =>
        fc.record({
          declared: fc.constant(declared),
          objects: fc.array(objectOf(declared, fc.constantFrom('a', 'b', 'c')), { minLength: 1, maxLength: 20 }),
        }),
      ),
      ({ declared, objects }) => {
        const definitions = definitionsOf(declared);
        const layout = layoutOf(definitions);
        const entries = objects.map((object) => entryOf(definitions, object));
        const [bytes = Buffer.alloc(0)] = encoded(
          entries.map((entry, ordinal) => ({ position: ordinal, ordinal, entry })),
          layout,
          entries.length,
        );
        const segment = new Segment(bytes, layout);
        t.same(
          entries.map((_entry, row) => entryAt(segment, row, layout.length)),
          entries,
        );
      },
    ),
    { numRuns },
  );
  t.end();
});
