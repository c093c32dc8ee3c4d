import { test } from 'tap';

import { Declarations } from '../../projections/declarations.ts';
import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { streamRevision } from '../../src/log/log.ts';
import { isEnforced, type Declared, type LateWrite } from '../../src/read/declarations.ts';
import { widgets } from '../support/given.ts';

const declaration = widgets.declaration!;
const at = (revision: number, version: string): Pick<Declared, 'revision' | 'declaration'> => ({
  revision: streamRevision(revision),
  declaration: { ...declaration, version },
});

test('the last declaration and the names of unique indexes survive a restart', async (t) => {
  const dir = t.testdir();
  const tables = new LmdbTables(dir);
  const declarations = new Declarations(tables);
  const notified: string[] = [];
  const unsubscribe = declarations.subscribe((type) => {
    notified.push(type);
  });
  const batch = declarations.begin();
  batch.declare(widgets.key, at(0, '1.0.0'), true);
  batch.declare(widgets.key, at(1, '2.0.0'), false);
  batch.recordValues(widgets.key, [{ index: 'spec.old' }]);
  tables.commit((writer) => {
    batch.write(writer);
  });
  t.equal(declarations.declared(widgets.key), undefined, 'not before it is kept');
  declarations.keep(batch);
  t.same(notified, [widgets.key]);
  unsubscribe();
  declarations.keep(batch);
  t.equal(notified.length, 1);
  await tables.close();
  const again = new LmdbTables(dir);
  for (const known of [declarations, new Declarations(again)]) {
    t.same(known.declared(widgets.key), {
      ...at(1, '2.0.0'),
      since: { 'spec.serial': 0 },
      always: { 'spec.serial': 0 },
      enforced: { 'spec.serial': 0 },
      late: 0,
    });
    t.same([...known.onceUnique(widgets.key)], ['spec.serial', 'spec.old']);
  }
  declarations.clear();
  t.same([declarations.declared(widgets.key), declarations.onceUnique(widgets.key).size], [undefined, 0]);
  await again.close();
});

test('a refused batch leaves no trace', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const declarations = new Declarations(tables);
  const batch = declarations.begin();
  batch.declare(widgets.key, at(0, '1.0.0'), true);
  t.throws(() => {
    tables.commit((writer) => {
      batch.write(writer);
      throw new Error('no');
    });
  }, /no/u);
  t.same([tables.declared(), tables.onceUnique()], [[], []]);
  const next = declarations.begin();
  next.recordValues(widgets.key, [{ index: 'spec.serial' }]);
  tables.commit((writer) => {
    next.write(writer);
  });
  t.same(tables.onceUnique(), [[widgets.key, ['spec.serial']]]);
  await tables.close();
});

test('an index is unique since the first of the consecutive declarations with the same values', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const declarations = new Declarations(tables);
  const serial = (keys: string) => ({ index: 'spec.serial', keys });
  const history = [
    [serial('a')],
    [serial('a')],
    [],
    [serial('a')],
    [serial('a'), { index: 'spec.title', keys: 'a' }],
    [serial('b')],
  ];
  const expected = [
    { 'spec.serial': 0 },
    { 'spec.serial': 0 },
    {},
    { 'spec.serial': 3 },
    { 'spec.serial': 3, 'spec.title': 4 },
    { 'spec.serial': 5 },
  ];
  for (const batches of ['one each', 'one for all']) {
    declarations.clear();
    let batch = declarations.begin();
    for (const [place, unique] of history.entries()) {
      batch.declare(widgets.key, { revision: streamRevision(place), declaration: { ...declaration, unique } }, false);
      t.same(batch.declared.get(widgets.key)?.since, expected[place], batches);
      if (batches === 'one for all') continue;
      declarations.keep(batch);
      batch = declarations.begin();
    }
  }
  await tables.close();
});

const serial = (keys: string) => ({ index: 'spec.serial', keys });
const title = { index: 'spec.title', keys: 'a' };

type Batch = ReturnType<Declarations['begin']>;

function declare(
  batch: Batch,
  revision: number,
  unique: readonly { readonly index: string; readonly keys: string }[],
  isEmpty = false,
): void {
  batch.declare(widgets.key, { revision: streamRevision(revision), declaration: { ...declaration, unique } }, isEmpty);
}

function enforcedIn(batch: Batch): readonly string[] {
  const standing = batch.declared.get(widgets.key)!;
  return Object.keys(standing.since).filter((index) => isEnforced(standing, index));
}

test('an index without objects is enforced from its declaration on, while it is unique and unchanged', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const batch = new Declarations(tables).begin();
  const steps: readonly (readonly [number, readonly { index: string; keys: string }[], boolean, readonly string[]])[] =
    [
      [0, [serial('a')], true, ['spec.serial']],
      [1, [serial('a'), title], false, ['spec.serial']],
      [2, [serial('b'), title], false, []],
      [3, [title], false, []],
      [4, [serial('b'), title], true, ['spec.serial', 'spec.title']],
      [5, [], false, []],
      [6, [serial('b')], false, []],
    ];
  for (const [revision, unique, isEmpty, expected] of steps) {
    declare(batch, revision, unique, isEmpty);
    t.same(enforcedIn(batch), expected, `at ${String(revision)}`);
  }
  t.same(batch.declared.get(widgets.key)?.always, { 'spec.serial': 6 });
  declare(batch, 7, [serial('c')]);
  t.match(
    batch.declared.get(widgets.key),
    { since: { 'spec.serial': 7 }, always: { 'spec.serial': 6 } },
    'by another function',
  );
  await tables.close();
});

test('an enforcement is valid only if no declaration and no older write came in between', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const batch = new Declarations(tables).begin();
  declare(batch, 3, [serial('a')]);
  const enforcedEvent = {
    type: 'UniqueEnforced',
    declared: 3,
    late: 0,
    indexes: ['spec.serial', 'spec.unknown'],
  } as const;
  const old = { name: 'w1', declared: 2, isFence: false, row: undefined };
  batch.recordWrite(widgets.key, old);
  batch.enforce(widgets.key, enforcedEvent);
  t.same(enforcedIn(batch), [], 'an older write came before it');
  batch.enforce(widgets.key, { ...enforcedEvent, declared: 2, late: 1 });
  t.same(enforcedIn(batch), [], 'it is of another declaration');
  batch.enforce(widgets.key, { ...enforcedEvent, late: 1 });
  t.same(enforcedIn(batch), ['spec.serial']);
  t.same(batch.late, [], 'a write that was pending anyway is not late');
  await tables.close();
});

test('an older write revokes an enforced index and is reported once; a fence of it is no write', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const declarations = new Declarations(tables);
  const lateWrites: LateWrite[] = [];
  const unsubscribe = declarations.onLate((late) => {
    lateWrites.push(late);
  });
  const batch = declarations.begin();
  declare(batch, 3, [serial('a')], true);
  declare(batch, 4, [serial('a'), title], true);
  const write = { name: 'w1', declared: 3, isFence: false, row: { declared: 3 } };
  batch.recordWrite(widgets.key, { ...write, declared: 4 });
  batch.recordWrite(widgets.key, { ...write, isFence: true });
  t.same(enforcedIn(batch), ['spec.serial', 'spec.title']);
  batch.recordWrite(widgets.key, write);
  t.same(enforcedIn(batch), ['spec.serial'], 'serial was unique by then');
  batch.recordWrite(widgets.key, { ...write, name: 'w2', declared: undefined, isFence: true, row: undefined });
  t.same(enforcedIn(batch), []);
  t.equal(batch.declared.get(widgets.key)?.late, 2);
  t.same(lateWrites, []);
  declarations.keep(batch);
  t.same(lateWrites, [
    { type: widgets.key, name: 'w1', declared: 3, indexes: ['spec.title'] },
    { type: widgets.key, name: 'w2', declared: undefined, indexes: ['spec.serial'] },
  ]);
  unsubscribe();
  await tables.close();
});
