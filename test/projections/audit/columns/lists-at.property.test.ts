/** Lists and objects as of a position against a replay to it, over histories with restarts and other declarations. */
import fc from 'fast-check';
import { test, type Test } from 'tap';

import { objectAnswer } from '../../../../src/log/event-codec.ts';
import type { ResourceObject } from '../../../../src/resource/object/object.ts';
import type { ListQuery, OrderPlace } from '../../../../src/resource/query/list-query.ts';
import { settled } from '../../../support/clocks/turns.ts';
import {
  boundQuery,
  fields,
  naiveNames,
  objectOf,
  queryOf,
  type Field,
  type NaiveQuery,
} from '../../index/type-index-oracle.ts';
import {
  History,
  keyOf,
  nameOf,
  objectsOf,
  objectSteps,
  plurals,
  streamOf,
  type Plural,
  type State,
} from './column-history.ts';
import { ColumnStage, itemsOf, typeOf } from './column-stage.ts';

const numRuns = Number(process.env['PBT_RUNS'] ?? 60);

const numberMax = 14;
const numbers = fc.integer({ min: 0, max: numberMax });

const drawnPlural = fc.constantFrom(...plurals);

const storeSteps = ['fold', 'close', 'crash', 'rebuild'] as const;

type Step = { readonly plural: Plural } & (
  | { readonly kind: 'put' | (typeof objectSteps)[number]; readonly object: ResourceObject }
  | { readonly kind: (typeof storeSteps)[number] | 'stop' | 'start' | 'request' }
  | { readonly kind: 'declare'; readonly declared: readonly Field[] }
  | { readonly kind: 'ask'; readonly at: number; readonly query: NaiveQuery }
);

const drawnObject = numbers.chain((number) => objectOf(fields, fc.constant(nameOf(number))));
const drawnAt = fc.double({ min: 0, max: 0.999, noNaN: true });

const steps: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('put' as const), plural: drawnPlural, object: drawnObject }), weight: 24 },
  {
    arbitrary: fc.record({ kind: fc.constantFrom(...objectSteps), plural: drawnPlural, object: drawnObject }),
    weight: 12,
  },
  {
    arbitrary: fc.record({
      kind: fc.constantFrom('fold' as const, 'fold' as const, 'request' as const),
      plural: drawnPlural,
    }),
    weight: 6,
  },
  // Any declaration has the default indexes: these queries name no others.
  {
    arbitrary: fc.record({ kind: fc.constant('ask' as const), plural: drawnPlural, at: drawnAt, query: queryOf([]) }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom(...storeSteps), plural: drawnPlural }), weight: 2 },
  {
    arbitrary: fc.record({ kind: fc.constantFrom('stop' as const, 'start' as const), plural: drawnPlural }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('declare' as const),
      plural: drawnPlural,
      declared: fc.shuffledSubarray([...fields]),
    }),
    weight: 1,
  },
);

function declaredType(declared: readonly Field[], plural: Plural): ReturnType<typeof typeOf> {
  return typeOf(
    declared.map(({ name, kind, multi }) => ({ name, type: kind, multi })),
    plural,
  );
}

type Performed = { readonly stage: ColumnStage; readonly history: History; readonly t: Test };

async function perform({ stage, history, t }: Performed, step: Step): Promise<void> {
  const key = keyOf(step.plural);
  switch (step.kind) {
    case 'put':
      return history.put(step.plural, step.object);
    case 'fold':
      return stage.fold();
    case 'request':
      await stage.request(key);
      return compareNow(t, stage);
    case 'rebuild':
      return stage.rebuild();
    case 'close':
    case 'crash':
      await stage.close(step.kind === 'close');
      return stage.open();
    case 'stop':
      return stage.declare(key, undefined);
    case 'start':
      return stage.type(key) === undefined ? stage.declare(key, typeOf([], step.plural)) : undefined;
    case 'declare':
      return stage.declare(key, declaredType(step.declared, step.plural));
    case 'ask':
      return askNow(t, stage, history, step);
    default:
      return history.other(step.kind, step.plural, step.object);
  }
}

/** The answers to lists during the histories. */
const asked = { served: 0, refused: 0 };

/** The rows that comparisons during the histories have read. */
const compared = { rows: 0 };

/** Columns that are complete are those of the log, whatever has written them. */
async function compareNow(t: Test, stage: ColumnStage): Promise<void> {
  const { difference, rows } = await stage.compare();
  t.strictSame(difference, undefined);
  compared.rows += rows;
}

/** A list during the history is refused, or it is the replay. */
async function askNow(
  t: Test,
  stage: ColumnStage,
  history: History,
  { plural, at, query }: Step & { readonly kind: 'ask' },
): Promise<void> {
  const { audit, models } = stage.opened;
  const type = stage.type(keyOf(plural));
  const state = history.at(at, audit.position() < models.position() ? audit.position() : models.position());
  if (type === undefined || state === undefined) return;
  const bound = { ...boundQuery(query, type.indexes), window: { kind: 'all' } as const };
  const page = await stage.listed(type, bound, state.position);
  asked[page === undefined ? 'refused' : 'served'] += 1;
  if (page !== undefined) t.same(namesIn(await itemsOf(page)), naiveNames(objectsOf(state, plural), query));
  await checkObjects(t, stage, state, plural);
}

type Question = {
  readonly plural: Plural;
  readonly state: State;
  readonly query: NaiveQuery;
  readonly limit: number;
};

/** Each object as a GET shows it. */
async function checkObjects(t: Test, stage: ColumnStage, { position, objects }: State, plural: Plural): Promise<void> {
  for (let number = 0; number <= numberMax; number++) {
    const stream = streamOf(plural, nameOf(number));
    const event = await stage.eventAt(stream, position);
    const isGone = event === undefined || event.type === 'ObjectDeleted';
    const bytes = isGone ? undefined : objectAnswer(event, event.position);
    const shown = bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as unknown);
    const expected = objects.get(stream);
    t.same(shown, expected === undefined ? undefined : JSON.parse(JSON.stringify(expected)));
  }
}

async function check(t: Test, stage: ColumnStage, { plural, state, query, limit }: Question): Promise<void> {
  const type = stage.type(keyOf(plural));
  if (type === undefined) throw new Error('the type is not registered');
  const bound = boundQuery(query, type.indexes);
  const names = naiveNames(objectsOf(state, plural), query);
  const ask = async (window: ListQuery['window']) => stage.list(type, { ...bound, window }, state.position);
  const all = await ask({ kind: 'all' });
  t.equal(all.position, state.position);
  t.same(
    JSON.parse(`[${await itemsOf(all)}]`),
    JSON.parse(JSON.stringify(names.map((name) => state.objects.get(streamOf(plural, name))))),
  );
  const page = await ask({ kind: 'page', page: 2, size: limit });
  t.same(namesIn(await itemsOf(page)), names.slice(limit, 2 * limit));
  t.equal(page.total, names.length);
  const seen: string[] = [];
  let after: OrderPlace | undefined;
  do {
    const part = await ask({ kind: 'after', limit, after });
    seen.push(...namesIn(await itemsOf(part)));
    t.equal(part.remaining, names.length - seen.length);
    after = part.next;
  } while (after !== undefined);
  t.same(seen, names);
}

function namesIn(items: string): readonly string[] {
  return (JSON.parse(`[${items}]`) as readonly ResourceObject[]).map(({ metadata }) => metadata.name);
}

/** The present list by columns is the live one, byte for byte. */
async function checkPresent(t: Test, stage: ColumnStage, plural: Plural, query: NaiveQuery): Promise<void> {
  const { models } = stage.opened;
  const type = stage.type(keyOf(plural));
  if (type === undefined) throw new Error('the type is not registered');
  const bound: ListQuery = {
    ...boundQuery(query, type.indexes),
    window: { kind: 'after', limit: 9, after: undefined },
  };
  const listed = models.list(type.key, bound);
  const live = 'rest' in listed ? await listed.rest() : listed;
  const { items: _live, ...counts } = live;
  const { items: _own, ...own } = await stage.list(type, bound, models.position());
  t.same(own, counts);
  t.equal(await itemsOf(await stage.list(type, bound, models.position())), await itemsOf(live));
}

const drawnFields = fc.shuffledSubarray([...fields]);

test('a list at a position has the objects of that moment, whatever happened to the columns', async (t) => {
  const scenario = fc.record({
    history: fc.array(steps, { minLength: 1, maxLength: 150 }),
    declared: fc.record({ widgets: drawnFields, gadgets: drawnFields }),
    isUsed: fc.boolean(),
    questions: fc.array(fc.record({ plural: drawnPlural, at: drawnAt, limit: fc.integer({ min: 1, max: 5 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
  });
  const withQueries = scenario.chain((drawn) => {
    const asked = drawn.questions.map(({ plural }) => queryOf(drawn.declared[plural]));
    return fc.record({ drawn: fc.constant(drawn), queries: fc.tuple(...asked) });
  });
  await fc.assert(
    fc.asyncProperty(withQueries, async ({ drawn: { history: drawnSteps, declared, isUsed, questions }, queries }) => {
      const types = plurals.map((plural) => declaredType(declared[plural], plural));
      const stage = new ColumnStage(t, { types });
      await stage.open();
      for (const { key } of types) if (isUsed) await stage.request(key);
      const history = new History(stage);
      for (const step of drawnSteps) await perform({ stage, history, t }, step);
      for (const type of types)
        if (stage.type(type.key)?.fingerprint !== type.fingerprint) await stage.declare(type.key, type);
      await stage.fold();
      for (const [index, { plural, at, limit }] of questions.entries()) {
        const state = history.at(at);
        const query = queries[index];
        if (state === undefined || query === undefined) continue;
        await check(t, stage, { plural, state, query, limit });
        await checkObjects(t, stage, state, plural);
        await checkPresent(t, stage, plural, query);
      }
      await compareNow(t, stage);
      t.same(stage.errors, []);
      await stage.close();
    }),
    { numRuns },
  );
  t.ok(compared.rows > 0, 'rows are compared');
  t.ok(asked.served > 0, `${String(asked.served)} lists during the histories, ${String(asked.refused)} refused`);
});

test('columns of a type are kept from the first list on, also after a restart', async (t) => {
  const type = typeOf([]);
  const stage = new ColumnStage(t, { types: [type] });
  await stage.open();
  const object = fc.sample(objectOf(fields, fc.constant(nameOf(1))), { numRuns: 1, seed: 7 })[0]!;
  const history = new History(stage);
  await history.put('widgets', object);
  await stage.fold();
  const { position } = history.states[0]!;
  const query = { ...boundQuery({ labels: [], fields: [], sort: [] }, type.indexes), window: { kind: 'all' } as const };
  const isKept = (): boolean => stage.opened.part.query(type, position, query) !== undefined;
  await settled();
  t.notOk(isKept(), 'no list was requested');
  await stage.list(type, query, position);
  t.ok(isKept());
  await stage.close();
  await stage.open();
  await settled();
  t.ok(isKept());
  await stage.close();
});
