import { test } from 'tap';

import { Level } from '../../projections/level.ts';
import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { levelRead } from '../../src/command/level.ts';
import { NewerEventError } from '../../src/log/log.ts';

test('the level of the log survives a restart, and never decreases', async (t) => {
  const dir = t.testdir();
  const tables = new LmdbTables(dir);
  const level = new Level(tables);
  t.equal(level.level(), 1, 'of a log that says none');
  const notified: number[] = [];
  level.subscribe((risen) => {
    notified.push(risen);
  });
  const batch = level.begin();
  batch.raise(levelRead);
  batch.raise(1);
  tables.commit((writer) => {
    batch.write(writer);
  });
  t.equal(level.level(), 1, 'not before it is kept');
  level.keep(batch);
  level.keep(level.begin());
  t.same(notified, [levelRead]);
  await tables.close();
  const again = new LmdbTables(dir);
  t.same([level.level(), new Level(again).level()], [levelRead, levelRead]);
  level.clear();
  again.clear();
  t.same([level.level(), new Level(again).level()], [1, 1]);
  await again.close();
});

test('a level that this version does not read ends the fold', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const batch = new Level(tables).begin();
  t.throws(() => {
    batch.raise(levelRead + 1);
  }, NewerEventError);
  await tables.close();
});
