import fc from 'fast-check';
import { test } from 'tap';
import { TypeIndex, buildTypeIndex } from '../../../projections/index/type-index.ts';
import { strideMax } from '../../../src/base/steps.ts';
import { entryOf } from '../../../src/resource/type/index-definition.ts';
import { matches } from '../../../src/resource/query/selection-match.ts';
import type { OrderPlace } from '../../../src/resource/query/list-query.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { IndexDefinition } from '../../../src/resource/type/resource-type.ts';
import {
  boundQuery,
  definitionsOf,
  fields,
  naiveNames,
  objectOf,
  queryOf,
  type Field,
  type NaiveQuery,
} from './type-index-oracle.ts';
import { drawn, random } from './drawn-objects.ts';

const numRuns = Number(process.env['PBT_RUNS'] ?? 150);

const names = fc.integer({ min: 0, max: 30 }).map((number) => `thing-${String(number)}`);
const someFields = fc.shuffledSubarray([...fields]);

type Write =
  { readonly kind: 'put'; readonly object: ResourceObject } | { readonly kind: 'remove'; readonly name: string };

const writeOf = (declared: readonly Field[]): fc.Arbitrary<Write> =>
  fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('put' as const), object: objectOf(declared, names) }), weight: 4 },
    { arbitrary: fc.record({ kind: fc.constant('remove' as const), name: names }), weight: 1 },
  );

/** Each step is a slice of its own. */
const stepByStep = { isOver: () => true, next: async (): Promise<void> => Promise.resolve() };

function apply(
  write: Write,
  index: TypeIndex,
  held: { readonly objects: Map<string, ResourceObject>; readonly definitions: readonly IndexDefinition[] },
): void {
  if (write.kind === 'remove') {
    held.objects.delete(write.name);
    index.remove({ name: write.name });
  } else {
    held.objects.set(write.object.metadata.name, write.object);
    index.put(entryOf(held.definitions, write.object));
  }
}

const allOf = (index: TypeIndex, query: NaiveQuery, definitions: readonly IndexDefinition[]): readonly string[] =>
  index.query({ ...boundQuery(query, definitions), window: { kind: 'all' } }).names;

async function bulk(definitions: readonly IndexDefinition[], objects: Iterable<ResourceObject>): Promise<TypeIndex> {
  return buildTypeIndex(definitions, [[...objects].map((object) => entryOf(definitions, object))], stepByStep);
}

/** Everything one query can be asked for agrees with `expected`, the names of all that match in order. */
function agrees(
  index: TypeIndex,
  query: ReturnType<typeof boundQuery>,
  expected: readonly string[],
  size: number,
): string | undefined {
  const all = index.query({ ...query, window: { kind: 'all' } });
  if (
    all.names.join() !== expected.join() ||
    all.total !== expected.length ||
    all.remaining !== 0 ||
    all.next !== undefined
  )
    return `all: ${all.names.join()} is not ${expected.join()}`;
  const pages = Math.ceil(expected.length / size) + 1;
  for (const page of new Set([1, 2, Math.ceil(pages / 2), pages - 1, pages].filter((number) => number >= 1))) {
    const result = index.query({ ...query, window: { kind: 'page', page, size } });
    const names = expected.slice((page - 1) * size, page * size);
    if (result.names.join() !== names.join() || result.total !== expected.length)
      return `page ${String(page)} of ${String(size)}: ${result.names.join()} is not ${names.join()}`;
    if (result.remaining !== Math.max(0, expected.length - page * size))
      return `page ${String(page)} of ${String(size)}: ${String(result.remaining)} remain`;
  }
  return undefined;
}

function chain(
  index: TypeIndex,
  query: ReturnType<typeof boundQuery>,
  limit: number,
  between: () => void = () => undefined,
): readonly string[] {
  const seen: string[] = [];
  let after: OrderPlace | undefined;
  do {
    const result = index.query({ ...query, window: { kind: 'after', limit, after } });
    seen.push(...result.names);
    after = result.next;
    between();
  } while (after !== undefined);
  return seen;
}

test('after any writes an index answers as filtering and sorting the objects does', async (t) => {
  const scenario = someFields.chain((declared) =>
    fc.record({
      declared: fc.constant(declared),
      writes: fc.array(writeOf(declared), { maxLength: 60 }),
      queries: fc.array(queryOf(declared), { minLength: 1, maxLength: 5 }),
      size: fc.integer({ min: 1, max: 7 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(scenario, async ({ declared, writes, queries, size }) => {
      const definitions = definitionsOf(declared);
      const index = new TypeIndex(definitions);
      const objects = new Map<string, ResourceObject>();
      for (const write of writes) apply(write, index, { objects, definitions });
      const rebuilt = await bulk(definitions, objects.values());
      for (const query of queries) {
        const expected = naiveNames(objects.values(), query);
        const bound = boundQuery(query, definitions);
        const problem = agrees(index, bound, expected, size) ?? agrees(rebuilt, bound, expected, size);
        if (problem !== undefined) throw new Error(problem);
        if (chain(index, bound, size).join() !== expected.join()) throw new Error('a chain differs');
        const matched = [...objects.values()]
          .filter((object) => matches(bound.selection, entryOf(definitions, object)))
          .map(({ metadata }) => metadata.name);
        if (matched.toSorted().join() !== expected.toSorted().join())
          throw new Error(`a watch would see ${matched.join()}, not ${expected.join()}`);
      }
      if (index.size !== objects.size) throw new Error('size');
    }),
    { numRuns },
  );
  t.pass();
});

test('a chain of pages returns every remaining object exactly once, through any writes', async (t) => {
  const stays = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 20 });
  const scenario = fc
    .record({ names: stays, query: queryOf(fields), limit: fc.integer({ min: 1, max: 4 }) })
    .chain(({ names: kept, query, limit }) =>
      fc.record({
        query: fc.constant(query),
        limit: fc.constant(limit),
        objects: fc.tuple(...kept.map((number) => objectOf(fields, fc.constant(`stays-${String(number)}`)))),
        writes: fc.array(fc.array(writeOf(fields), { maxLength: 4 }), { maxLength: 20 }),
      }),
    );
  const definitions = definitionsOf(fields);
  await fc.assert(
    fc.asyncProperty(scenario, async ({ query, limit, objects, writes }) => {
      const index = await bulk(definitions, objects);
      const others = new Map<string, ResourceObject>();
      const rounds = [...writes];
      const seen = chain(index, boundQuery(query, definitions), limit, () => {
        for (const write of rounds.pop() ?? []) apply(write, index, { objects: others, definitions });
      });
      const kept = seen.filter((name) => name.startsWith('stays-'));
      if (kept.join() !== naiveNames(objects, query).join())
        throw new Error(`${kept.join()} is not ${naiveNames(objects, query).join()}`);
    }),
    { numRuns },
  );
  t.pass();
});

test(
  'thousands of objects give equal and correct answers, loaded at once or one by one',
  { timeout: 120_000 },
  async (t) => {
    const definitions = definitionsOf(fields);
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.array(queryOf(fields), { minLength: 12, maxLength: 12 }),
        fc.constantFrom(1, 20, 700),
        async (seed, queries, size) => {
          const below = random(seed);
          const objects = new Map<string, ResourceObject>();
          const first = Array.from({ length: 2_500 }, (_, number) => drawn(below, number));
          const loaded = await bulk(definitions, first);
          for (const object of first) objects.set(object.metadata.name, object);
          for (let count = 0; count < 1_500; count++) {
            const write: Write =
              below(3) === 0
                ? { kind: 'remove', name: `thing-${String(below(3_000))}` }
                : { kind: 'put', object: drawn(below, below(3_000)) };
            apply(write, loaded, { objects, definitions });
          }
          for (const query of queries) {
            const expected = naiveNames(objects.values(), query);
            const problem = agrees(loaded, boundQuery(query, definitions), expected, size);
            if (problem !== undefined) throw new Error(problem);
          }
          const chained = queries.find(({ sort }) => sort.length > 1) ?? queries[0]!;
          if (
            chain(loaded, boundQuery(chained, definitions), 400).join() !== naiveNames(objects.values(), chained).join()
          )
            throw new Error('a chain differs');
          for (const name of [...objects.keys()]) apply({ kind: 'remove', name }, loaded, { objects, definitions });
          if (loaded.size !== 0 || allOf(loaded, queries[0]!, definitions).length !== 0)
            throw new Error('something is left');
        },
      ),
      { numRuns: Math.max(1, Math.ceil(numRuns / 25)) },
    );
    t.pass();
  },
);

test('the holder of a unique value is found by it', async (t) => {
  const definitions = definitionsOf(fields);
  const below = random(1);
  const index = await bulk(definitions, [drawn(below, 1)]);
  t.equal(index.has(0, 'thing-1'), 'thing-1');
  t.equal(index.has(0, 'thing-2'), undefined);
  t.throws(() => index.has(99, 'x'), RangeError);
});

test('a load pauses between slices, between orders, and within each', async (t) => {
  const definitions = definitionsOf(fields);
  const below = random(1);
  const count = 4 * strideMax;
  const objects = Array.from({ length: count }, (_, number) => entryOf(definitions, drawn(below, number)));
  let pauses = 0;
  const next = async (): Promise<void> => {
    pauses += 1;
    await Promise.resolve();
  };
  const index = await buildTypeIndex(definitions, [objects], { isOver: () => true, next });
  t.equal(index.size, count);
  // Each order reads, and fills, every object at least.
  t.ok(pauses >= 2 * definitions.length * (count / strideMax - 1), `${String(pauses)} pauses`);
});
