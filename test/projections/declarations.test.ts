import { test } from 'tap';

import { Declarations } from '../../projections/declarations.ts';
import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { streamRevision } from '../../src/log/log.ts';
import type { Declared } from '../../src/read/declarations.ts';
import { widgets } from '../support/given.ts';

const declaration = widgets.declaration!;
const at = (revision: number, version: string): Omit<Declared, 'since'> => ({ revision: streamRevision(revision), declaration: { ...declaration, version } });

test('the last declaration and the names of unique indexes are there after a restart', async (t) => {
  const dir = t.testdir();
  const tables = new LmdbTables(dir);
  const declarations = new Declarations(tables);
  const heard: string[] = [];
  const unsubscribe = declarations.subscribe((type) => { heard.push(type); });
  const batch = declarations.begin();
  batch.declare(widgets.key, at(0, '1.0.0'));
  batch.declare(widgets.key, at(1, '2.0.0'));
  batch.noteValues(widgets.key, [{ index: 'spec.old' }]);
  tables.commit((writer) => { batch.write(writer); });
  t.equal(declarations.declared(widgets.key), undefined, 'not before it is kept');
  declarations.keep(batch);
  t.same(heard, [widgets.key]);
  unsubscribe();
  declarations.keep(batch);
  t.equal(heard.length, 1);
  await tables.close();
  const again = new LmdbTables(dir);
  for (const known of [declarations, new Declarations(again)]) {
    t.same(known.declared(widgets.key), { ...at(1, '2.0.0'), since: { 'spec.serial': 0 } });
    t.same([...known.onceUnique(widgets.key)], ['spec.serial', 'spec.old']);
  }
  declarations.clear();
  t.same([declarations.declared(widgets.key), declarations.onceUnique(widgets.key).size], [undefined, 0]);
  await again.close();
});

test('a batch that came to nothing leaves no trace', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const declarations = new Declarations(tables);
  const batch = declarations.begin();
  batch.declare(widgets.key, at(0, '1.0.0'));
  t.throws(() => { tables.commit((writer) => { batch.write(writer); throw new Error('no'); }); }, /no/u);
  t.same([tables.declared(), tables.onceUnique()], [[], []]);
  const next = declarations.begin();
  next.noteValues(widgets.key, [{ index: 'spec.serial' }]);
  tables.commit((writer) => { next.write(writer); });
  t.same(tables.onceUnique(), [[widgets.key, ['spec.serial']]]);
  await tables.close();
});

test('an index is unique since the first declaration of those without a break that have the same values', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const declarations = new Declarations(tables);
  const serial = (keys: string) => ({ index: 'spec.serial', keys });
  const history = [[serial('a')], [serial('a')], [], [serial('a')], [serial('a'), { index: 'spec.title', keys: 'a' }], [serial('b')]];
  const expected = [{ 'spec.serial': 0 }, { 'spec.serial': 0 }, {}, { 'spec.serial': 3 }, { 'spec.serial': 3, 'spec.title': 4 }, { 'spec.serial': 5 }];
  for (const batches of ['one each', 'one for all']) {
    declarations.clear();
    let batch = declarations.begin();
    for (const [place, unique] of history.entries()) {
      batch.declare(widgets.key, { revision: streamRevision(place), declaration: { ...declaration, unique } });
      t.same(batch.declared.get(widgets.key)?.since, expected[place], batches);
      if (batches === 'one for all') continue;
      declarations.keep(batch);
      batch = declarations.begin();
    }
  }
  await tables.close();
});
