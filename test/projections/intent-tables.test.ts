import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type Test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { logPosition, streamRevision } from '../../src/log/log.ts';
import { typeKey } from '../../src/resource/type/index-entry.ts';

const links = typeKey('links.example.com');
const intent = {
  stream: 'ref:links.example.com/a',
  revision: 0,
  position: logPosition(7n),
  through: 2,
  targets: ['groups.example.com/blue', 'groups.example.com/red'],
};

function openTables(t: Test, dir = mkdtempSync(join(tmpdir(), 'ledgerplane-intents-'))) {
  const tables = new LmdbTables(dir);
  t.teardown(async () => {
    await tables.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return tables;
}

test('an intent is found by each target, until a later event of its object', async (t) => {
  const tables = openTables(t);
  tables.commit((writer) => {
    writer.putIntent(intent);
  });
  const pending = [{ object: 'links.example.com/a', through: 2, position: logPosition(7n) }];
  for (const target of intent.targets) t.strictSame(tables.intents.naming(target), pending);
  tables.commit((writer) => {
    writer.dropIntents(links, 'a', streamRevision(2));
  });
  t.strictSame(tables.intents.naming('groups.example.com/red'), pending, 'the append may still succeed');
  tables.commit((writer) => {
    writer.dropIntents(links, 'a', streamRevision(3));
  });
  for (const target of intent.targets) t.strictSame(tables.intents.naming(target), []);
});

test('objects without a pending intent take no memory', async (t) => {
  const tables = openTables(t);
  for (const end of ['event', 'withdrawal'] as const) {
    tables.commit((writer) => {
      writer.putIntent(intent);
    });
    t.equal(tables.intents.streams(), 1);
    tables.commit((writer) => {
      if (end === 'event') writer.dropIntents(links, 'a', streamRevision(3));
      else writer.withdrawIntent(intent);
    });
    t.equal(tables.intents.streams(), 0, end);
  }
});

test('an intent stays pending if the transaction that ends it is rolled back', async (t) => {
  const tables = openTables(t);
  tables.commit((writer) => {
    writer.putIntent(intent);
  });
  const fail = (): void => {
    tables.commit((writer) => {
      writer.dropIntents(links, 'a', streamRevision(3));
      throw new Error('rolled back');
    });
  };
  t.throws(fail, /rolled back/u);
  tables.commit(() => undefined);
  t.equal(tables.intents.naming('groups.example.com/blue').length, 1);
  tables.commit((writer) => {
    writer.dropIntents(links, 'a', streamRevision(3));
  });
  t.strictSame(tables.intents.naming('groups.example.com/blue'), []);
});

test('an intent that follows the end of another one in a transaction is kept', async (t) => {
  const tables = openTables(t);
  const next = { ...intent, revision: 1, through: 3 };
  tables.commit((writer) => {
    writer.putIntent(intent);
  });
  tables.commit((writer) => {
    writer.dropIntents(links, 'a', streamRevision(3));
    writer.putIntent(next);
  });
  t.equal(tables.intents.streams(), 1);
  tables.commit((writer) => {
    writer.dropIntents(links, 'a', streamRevision(4));
  });
  t.strictSame(tables.intents.naming('groups.example.com/blue'), []);
});
