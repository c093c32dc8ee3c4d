/** Lists as of a position against the objects of that moment, over histories with restarts and other declarations. */
import fc from 'fast-check';
import { test, type Test } from 'tap';

import type { ObjectEvent } from '../../../../src/command/event.ts';
import type { LogPosition } from '../../../../src/log/log.ts';
import type { ResourceObject } from '../../../../src/resource/object/object.ts';
import type { ListQuery, OrderPlace } from '../../../../src/resource/query/list-query.ts';
import { settled } from '../../../support/clocks/turns.ts';
import { boundQuery, fields, naiveNames, objectOf, queryOf, type Field } from '../../index/type-index-oracle.ts';
import { ColumnStage, itemsOf, typeOf } from './column-stage.ts';

const numRuns = Number(process.env['PBT_RUNS'] ?? 60);

const numbers = fc.integer({ min: 0, max: 14 });

type Step =
  | { readonly kind: 'put'; readonly object: ResourceObject }
  | {
      readonly kind: 'touch' | 'fence' | 'delete' | 'replace';
      readonly number: number;
      readonly object: ResourceObject;
    }
  | { readonly kind: 'fold' | 'close' | 'crash' | 'stop' | 'start' | 'request' }
  | { readonly kind: 'declare'; readonly declared: readonly Field[] };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: numbers.chain((number) => putOf(number)), weight: 24 },
  {
    arbitrary: numbers.chain((number) =>
      fc.record({
        kind: fc.constantFrom('touch' as const, 'fence' as const, 'delete' as const, 'replace' as const),
        number: fc.constant(number),
        object: objectOf(fields, fc.constant(nameOf(number))),
      }),
    ),
    weight: 10,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('fold' as const, 'request' as const) }), weight: 6 },
  { arbitrary: fc.record({ kind: fc.constantFrom('close' as const, 'crash' as const) }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constantFrom('stop' as const, 'start' as const) }), weight: 1 },
  {
    arbitrary: fc.record({ kind: fc.constant('declare' as const), declared: fc.shuffledSubarray([...fields]) }),
    weight: 1,
  },
);

function putOf(number: number): fc.Arbitrary<Step> {
  return fc.record({ kind: fc.constant('put' as const), object: objectOf(fields, fc.constant(nameOf(number))) });
}

function declaredType(declared: readonly Field[]): ReturnType<typeof typeOf> {
  return typeOf(declared.map(({ name, kind, multi }) => ({ name, type: kind, multi })));
}

function nameOf(number: number): string {
  return `thing-${String(number)}`;
}

type Shown = ResourceObject & { readonly metadata: { readonly resourceVersion?: string } };

/** Writes the events that `decide` would have made, and keeps the objects after each. */
class History {
  readonly #stage: ColumnStage;
  #objects = new Map<string, Shown>();
  readonly #lives = new Map<string, number>();
  /** The objects at each position, the beginning first. */
  readonly states: { readonly position: LogPosition; readonly objects: ReadonlyMap<string, Shown> }[] = [];

  constructor(stage: ColumnStage) {
    this.#stage = stage;
  }

  async put(object: ResourceObject): Promise<void> {
    const { name } = object.metadata;
    const present = this.#objects.get(name);
    const life = present === undefined ? (this.#lives.get(name) ?? 0) + 1 : (this.#lives.get(name) ?? 0);
    this.#lives.set(name, life);
    const { creationTimestamp = object.metadata.creationTimestamp } = present?.metadata ?? {};
    const metadata = { ...object.metadata, uid: `${name}-${String(life)}`, creationTimestamp };
    const type = present === undefined ? 'ObjectCreated' : 'ObjectUpdated';
    await this.#write(name, { type, object: { ...object, metadata }, values: [] });
  }

  async other(kind: 'touch' | 'fence' | 'delete' | 'replace', object: ResourceObject): Promise<void> {
    const { name } = object.metadata;
    const present = this.#objects.get(name);
    if (kind === 'fence')
      return this.#write(name, {
        type: 'NameFenced',
        ...(present === undefined ? {} : { object: stored(present) }),
        values: [],
      });
    if (present === undefined) return;
    const own = stored(present);
    if (kind === 'touch') return this.#write(name, { type: 'ObjectUpdated', object: own, values: [] });
    const marked = { ...own, metadata: { ...own.metadata, deletionTimestamp: '2027-01-01T00:00:00.000Z' } };
    await this.#write(
      name,
      { type: 'ObjectDeletionRequested', object: marked, values: [] },
      { type: 'ObjectDeleted', object: marked, values: [] },
    );
    if (kind === 'replace') await this.put(object);
  }

  async #write(name: string, ...events: readonly ObjectEvent[]): Promise<void> {
    const last = await this.#stage.append(name, ...events);
    for (const [index, event] of events.entries()) {
      const position = (last - BigInt(events.length - 1 - index)) as LogPosition;
      this.#objects = new Map(this.#objects);
      if (event.type === 'ObjectDeleted') this.#objects.delete(name);
      else if (event.object !== undefined) {
        const metadata = { resourceVersion: String(position), ...event.object.metadata };
        this.#objects.set(name, { ...event.object, metadata });
      }
      this.states.push({ position, objects: this.#objects });
    }
  }
}

/** As an event holds it. */
function stored({ metadata: { resourceVersion: _own, ...metadata }, ...object }: Shown): ResourceObject {
  return { ...object, metadata };
}

async function perform(stage: ColumnStage, history: History, step: Step): Promise<void> {
  switch (step.kind) {
    case 'put':
      return history.put(step.object);
    case 'fold':
      return stage.fold();
    case 'request':
      return stage.request();
    case 'close':
    case 'crash':
      await stage.close(step.kind === 'close');
      return stage.open();
    case 'stop':
      return stage.declare(undefined);
    case 'start':
      return stage.type === undefined ? stage.declare(typeOf([])) : undefined;
    case 'declare':
      return stage.declare(declaredType(step.declared));
    default:
      return history.other(step.kind, step.object);
  }
}

type Question = { readonly at: number; readonly query: Parameters<typeof naiveNames>[1]; readonly limit: number };

async function check(t: Test, stage: ColumnStage, history: History, { at, query, limit }: Question): Promise<void> {
  const state = history.states[Math.floor(at * history.states.length)];
  const { type } = stage;
  if (state === undefined || type === undefined) throw new Error('nothing to ask');
  const bound = boundQuery(query, type.indexes);
  const names = naiveNames(state.objects.values(), query);
  const ask = async (window: ListQuery['window']) => stage.list({ ...bound, window }, state.position);
  const all = await ask({ kind: 'all' });
  t.equal(all.position, state.position);
  t.same(
    JSON.parse(`[${await itemsOf(all)}]`),
    JSON.parse(JSON.stringify(names.map((name) => state.objects.get(name)))),
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
async function checkPresent(t: Test, stage: ColumnStage, query: Question['query']): Promise<void> {
  const { models } = stage.opened;
  if (stage.type === undefined) throw new Error('nothing to ask');
  const bound: ListQuery = {
    ...boundQuery(query, stage.type.indexes),
    window: { kind: 'after', limit: 9, after: undefined },
  };
  const listed = models.list(stage.type.key, bound);
  const live = 'rest' in listed ? await listed.rest() : listed;
  const { items: _live, ...counts } = live;
  const { items: _own, ...own } = await stage.list(bound, models.position());
  t.same(own, counts);
  t.equal(await itemsOf(await stage.list(bound, models.position())), await itemsOf(live));
}

test('a list at a position has the objects of that moment, whatever happened to the columns', async (t) => {
  const scenario = fc.record({
    history: fc.array(steps, { minLength: 1, maxLength: 120 }),
    declared: fc.shuffledSubarray([...fields]),
    isUsed: fc.boolean(),
    questions: fc.array(
      fc.record({ at: fc.double({ min: 0, max: 0.999, noNaN: true }), limit: fc.integer({ min: 1, max: 5 }) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      scenario.chain((drawn) =>
        fc.record({
          drawn: fc.constant(drawn),
          queries: fc.array(queryOf(drawn.declared), { minLength: 4, maxLength: 4 }),
        }),
      ),
      async ({ drawn: { history: drawnSteps, declared, isUsed, questions }, queries }) => {
        const stage = new ColumnStage(t, { type: declaredType(declared) });
        await stage.open();
        if (isUsed) await stage.request();
        const history = new History(stage);
        for (const step of drawnSteps) await perform(stage, history, step);
        const type = declaredType(declared);
        if (stage.type?.fingerprint !== type.fingerprint) await stage.declare(type);
        await stage.fold();
        for (const [index, question] of history.states.length === 0 ? [] : questions.entries())
          await check(t, stage, history, { ...question, query: queries[index]! });
        await checkPresent(t, stage, queries[0]!);
        t.same(stage.errors, []);
        await stage.close();
      },
    ),
    { numRuns },
  );
});

test('columns of a type are kept from the first list on, also after a restart', async (t) => {
  const stage = new ColumnStage(t, { type: typeOf([]) });
  await stage.open();
  const object = fc.sample(objectOf(fields, fc.constant(nameOf(1))), { numRuns: 1, seed: 7 })[0]!;
  const history = new History(stage);
  await history.put(object);
  await stage.fold();
  const { position } = history.states[0]!;
  const type = typeOf([]);
  const query = { ...boundQuery({ labels: [], fields: [], sort: [] }, type.indexes), window: { kind: 'all' } as const };
  const isKept = (): boolean => stage.opened.part.query(type, position, query) !== undefined;
  await settled();
  t.notOk(isKept(), 'no list was requested');
  await stage.list(query, position);
  t.ok(isKept());
  await stage.close();
  await stage.open();
  await settled();
  t.ok(isKept());
  await stage.close();
});
