import { test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { decodeRow, encodeRow, storedOf } from '../../projections/row.ts';
import { epochShift, logPosition, logStart, streamRevision } from '../../src/log/log.ts';
import { typeKey } from '../../src/resource/type/index-entry.ts';
import { idOf } from '../support/id-of.ts';

const widgets = typeKey('widgets.example.com');

test('a row keeps a position of any epoch', async (t) => {
  for (const position of [
    1n,
    2n ** 63n,
    2n ** 64n - 1n,
    2n ** 64n,
    epochShift(1) + 5n,
    epochShift(7) + 2n ** 62n,
    10n ** 24n - 1n,
  ].map(logPosition)) {
    const bytes = encodeRow({
      revision: streamRevision(3),
      position,
      deletionRequested: false,
      finalizers: true,
      declared: 7,
      entry: Buffer.from('entry'),
      source: Buffer.from('source'),
      answer: Buffer.from('{}'),
    });
    t.equal(decodeRow(bytes).position, position);
    t.match(storedOf(bytes), { position, revision: 3 });
    t.equal(Buffer.from(storedOf(bytes).bytes).toString(), '{}');
  }
});

test('secrets are kept by uid and revision, and go with their object', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const [user, other] = [idOf('a user'), idOf('another')];
  tables.commit((writer) => {
    for (const [revision, hash] of ['first', 'second'].entries())
      writer.putPasswordHash(user, streamRevision(revision), hash);
    writer.putPasswordHash(other, streamRevision(0), 'of another');
    writer.putTokenDigest(other, 'a digest');
  });
  t.same(
    [0, 1, 2].map((revision) => tables.passwordHash(user, revision)),
    ['first', 'second', undefined],
  );
  t.equal(tables.tokenDigest(user), undefined);
  t.equal(tables.tokenDigest(other), 'a digest');
  for (const strange of ['', 'x'.repeat(10_000)]) t.equal(tables.tokenDigest(strange), undefined);
  tables.commit((writer) => {
    writer.dropSecrets(user);
  });
  t.same(
    [0, 1].map((revision) => tables.passwordHash(user, revision)),
    [undefined, undefined],
  );
  t.equal(tables.passwordHash(other, 0), 'of another');
  await tables.close();
});

test('a clear deletes all rows and the checkpoint', async (t) => {
  const dir = t.testdir();
  const tables = new LmdbTables(dir);
  const checkpoint = {
    logId: 'l',
    epoch: 2,
    position: logPosition(epochShift(2) + 9n),
    eventId: 'e',
    events: 12,
    time: 1_767_225_600_000,
  };
  tables.commit((writer) => {
    writer.putCheckpoint(checkpoint);
    writer.putTokenDigest('u', 'd');
    writer.putOnceUnique(widgets, ['spec.serial']);
  });
  t.same(tables.checkpoint(), checkpoint);
  await tables.close();
  const again = new LmdbTables(dir);
  t.same(again.checkpoint(), checkpoint);
  t.same(again.onceUnique(), [[widgets, ['spec.serial']]]);
  again.clear();
  t.same(again.onceUnique(), []);
  t.same([again.checkpoint(), again.tokenDigest('u')], [undefined, undefined]);
  t.ok((again.checkpoint()?.position ?? logStart) === logStart);
  await again.close();
});

test('a row that is read into a shared buffer ends where the row ends, after any earlier read', async (t) => {
  const tables = new LmdbTables(t.testdir());
  const rows = { a: 'x'.repeat(900), b: 'short', c: 'y'.repeat(70_000), d: 'z' };
  const expected = Object.entries(rows).map(([name, text]) => ({ name, bytes: text.length, text }));
  tables.commit((writer) => {
    for (const [name, text] of Object.entries(rows))
      writer.putRow(widgets, name, Buffer.from(text), { recreated: false });
  });
  // Newer versions of Node copy by the true length of the memory, so `byteLength` has to be right, not only `length`.
  const seen = (name: string, row: Buffer) => ({ name, bytes: row.byteLength, text: Buffer.concat([row]).toString() });
  const got = Object.keys(rows).map((name) => seen(name, tables.rowFast(widgets, name)!));
  t.strictSame(got, expected, 'a single read');
  const scanned: unknown[] = [];
  const range = { after: undefined, limit: 10 };
  tables.scan(widgets, range, (row) => scanned.push(seen(expected[scanned.length]!.name, row)) > 0);
  t.strictSame(scanned, expected, 'a scan');
  const snapshot = tables.snapshot();
  const held = Object.keys(rows).map((name) => ({ name, row: Buffer.from(snapshot.rowFast(widgets, name)!) }));
  t.strictSame(
    held.map(({ name, row }) => seen(name, row)),
    expected,
    'a snapshot',
  );
  snapshot.release();
  await tables.close();
});
