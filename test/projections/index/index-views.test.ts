/** Queries that take several turns, while the index goes on being changed. */
import fc from 'fast-check';
import { test } from 'tap';
import type { Choice, QueryResult } from '../../../projections/index/index-choice.ts';
import { IndexViews } from '../../../projections/index/index-views.ts';
import { buildTypeIndex, type TypeIndex } from '../../../projections/index/type-index.ts';
import { entryOf } from '../../../src/resource/type/index-definition.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import { drawn, random } from './drawn-objects.ts';
import { boundQuery, definitionsOf, fields, naiveNames, queryOf } from './type-index-oracle.ts';

const numRuns = Math.max(4, Math.ceil(Number(process.env['PBT_RUNS'] ?? 150) / 10));
const definitions = definitionsOf(fields);
const stepByStep = { isOver: () => true, next: async (): Promise<void> => Promise.resolve() };

type Open = { readonly choice: Choice; readonly expected: string };

class Written {
  readonly index: TypeIndex;
  readonly objects = new Map<string, ResourceObject>();
  readonly #below: (limit: number) => number;

  constructor(index: TypeIndex, objects: readonly ResourceObject[], below: (limit: number) => number) {
    this.index = index;
    this.#below = below;
    for (const object of objects) this.objects.set(object.metadata.name, object);
  }

  /** Puts and removes a few objects. */
  change(count: number): void {
    for (let change = 0; change < count; change++) {
      const object = drawn(this.#below, this.#below(3_000));
      const { name } = object.metadata;
      if (this.#below(3) === 0) {
        this.objects.delete(name);
        this.index.remove({ name });
      } else {
        this.objects.set(name, object);
        this.index.put(entryOf(definitions, object));
      }
    }
  }
}

const namesOf = ({ names }: QueryResult): string => names.join();

test(
  'a query of several turns answers the state in which it began, through any writes',
  { timeout: 240_000 },
  async (t) => {
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.array(queryOf(fields), { minLength: 8, maxLength: 8 }),
        async (seed, queries) => {
          const below = random(seed);
          const first = Array.from({ length: 2_500 }, (_, number) => drawn(below, number));
          const index = await buildTypeIndex(
            definitions,
            [first.map((object) => entryOf(definitions, object))],
            stepByStep,
          );
          const written = new Written(index, first, below);
          const open = new Set<Open>();
          const advance = (each: Open, isOver: boolean): void => {
            steps += 1;
            const result = each.choice.advance({ isOver: () => isOver });
            if (result === undefined) return;
            open.delete(each);
            if (namesOf(result) !== each.expected || result.total !== result.names.length)
              throw new Error(`${namesOf(result)} is not ${each.expected}`);
          };
          for (const query of queries) {
            const choice = index.begin({ ...boundQuery(query, definitions), window: { kind: 'all' } });
            open.add({ choice, expected: naiveNames(written.objects.values(), query).join() });
            for (const each of open) {
              advance(each, true);
              written.change(below(40));
            }
            // One that nobody waits for any more.
            if (below(4) === 0) index.begin({ ...boundQuery(query, definitions), window: { kind: 'all' } }).close();
          }
          while (open.size > 0) {
            for (const each of open) {
              advance(each, true);
              written.change(below(10));
            }
          }
          for (const query of queries) {
            const now = index.query({ ...boundQuery(query, definitions), window: { kind: 'all' } });
            if (namesOf(now) !== naiveNames(written.objects.values(), query).join())
              throw new Error('the writes during queries are not the stored ones');
          }
          if (index.size !== written.objects.size) throw new Error('size');
        },
      ),
      { numRuns },
    );
    t.ok(steps > numRuns * 8 * 2, `${String(steps)} steps`);
  },
);

test('queries over many objects pause throughout, in any order', async (t) => {
  const below = random(3);
  const count = 40_000;
  const objects = Array.from({ length: count }, (_, number) => entryOf(definitions, drawn(below, number)));
  const index = await buildTypeIndex(definitions, [objects], stepByStep);
  const place = (name: string): number => definitions.findIndex((definition) => definition.name === name);
  const by = (name: string, direction: 'asc' | 'desc') => ({ index: place(name), direction });
  const everything = { labels: [], fields: [] };
  for (const [title, selection, sort] of [
    ['all', everything, []],
    ['one key, descending', everything, [by('spec.open', 'desc')]],
    ['two keys, descending', everything, [by('spec.open', 'desc'), by('spec.size', 'asc')]],
    ['a multi-valued key', everything, [by('spec.tags', 'asc')]],
    ['objects without a value first', everything, [{ ...by('spec.title', 'asc'), nulls: 'first' as const }]],
    ['by label', { labels: [{ key: 'app', operator: 'notIn' as const, values: ['a'] }], fields: [] }, []],
  ] as const) {
    const choice = index.begin({ selection, sort, window: { kind: 'all' } });
    let pauses = 0;
    let result: QueryResult | undefined;
    while ((result = choice.advance({ isOver: () => true })) === undefined) pauses += 1;
    t.ok(result.names.length > count / 4, title);
    // Its postings are met, and its names made, in strides.
    t.ok(pauses >= (2 * result.names.length) / 4_096 - 2, `${title}: ${String(pauses)} pauses`);
  }
});

test('a retired row is free once all its possible readers are closed', (t) => {
  const freed: number[] = [];
  const views = new IndexViews((ordinal) => {
    freed.push(ordinal);
  });
  views.retire(1);
  t.same(freed, [1], 'nobody reads');
  const [first, second] = [views.open(), views.open()];
  views.retire(2);
  const third = views.open();
  views.retire(3);
  views.close(third);
  views.close(first);
  t.same(freed, [1]);
  t.equal(views.retired, 2);
  views.close(second);
  t.same(freed, [1, 2, 3]);
  views.close(second);
  t.notOk(views.areOpen);
  t.end();
});
