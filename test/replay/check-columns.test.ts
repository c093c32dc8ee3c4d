/** A change in each table of the columns: the comparison with the log names it. */
import { join } from 'node:path';

import { open } from 'lmdb';
import { test, type Test } from 'tap';

import { streamName } from '../../src/log/log.ts';
import { settled } from '../support/clocks/turns.ts';
import { created, deleted, fenced, updated, widget } from '../support/given.ts';
import { ColumnStage, typeOf } from '../projections/audit/columns/column-stage.ts';

const type = typeOf([{ name: 'spec.size', type: 'number' }]);
const objects = 14;
const versions = 9;

/** Columns with several segments and snapshots, a segment that is not full, and events without a row. */
async function givenColumns(t: Test): Promise<ColumnStage> {
  const stage = new ColumnStage(t, { types: [type] });
  await stage.open();
  await stage.request(type.key);
  await settled();
  for (let version = 0; version < versions; version += 1)
    for (let number = 0; number < objects; number += 1) {
      const name = `w${String(number)}`;
      // Every third version leaves the values as they were.
      const size = version - (version % 3 === 2 ? 1 : 0);
      const object = widget({ metadata: { name, version, labels: { team: 'blue' } }, spec: { size } });
      const stream = streamName(`object:${type.key}/${name}`);
      await stage.append(stream, version === 0 ? created(object) : updated(object));
      if (version === versions - 1 && number === 3) await stage.append(stream, deleted(object), fenced());
      if (number % 5 === 4) await stage.fold();
      await settled();
    }
  await stage.fold();
  await settled();
  return stage;
}

type Tables = { readonly get: (name: string) => Table };
type Table = {
  entries(): readonly { readonly key: Buffer | string; readonly value: Buffer }[];
  put(key: Buffer | string, value: Buffer): void;
  remove(key: Buffer | string): void;
};

/** Changes the tables of the closed stage, as anybody with its disk could. */
async function tamper({ dir }: ColumnStage, change: (tables: Tables) => void): Promise<void> {
  const root = open({ path: join(dir, 'audit', 'tables.mdb'), noSubdir: true, maxDbs: 32, encoding: 'binary' });
  change({
    get: (name) => {
      const keys = name === 'meta' ? {} : { keyEncoding: 'binary' as const };
      const table = root.openDB<Buffer, Buffer | string>({ name: `columns:${name}`, encoding: 'binary', ...keys });
      return {
        entries: () => [...table.getRange()].map(({ key, value }) => ({ key: copyOf(key), value: Buffer.from(value) })),
        put: (key, value) => {
          table.putSync(key, value);
        },
        remove: (key) => {
          table.removeSync(key);
        },
      };
    },
  });
  await root.close();
}

function copyOf(key: Buffer | string): Buffer | string {
  return typeof key === 'string' ? key : Buffer.from(key);
}

const changeKind = 0;
const chunkKind = 1;

/** The segment of changes, or of snapshots, with this number. */
function segment(tables: Tables, kind: number, number: number): { readonly key: Buffer; readonly value: Buffer } {
  const found = tables
    .get('segments')
    .entries()
    .filter(({ key }) => key[4] === kind)[number];
  if (found === undefined || typeof found.key === 'string') throw new Error('there is no such segment');
  return { key: found.key, value: found.value };
}

function flipLast(value: Buffer): Buffer {
  const changed = Buffer.from(value);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  return changed;
}

function doubleOf(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

/** Changes a number of the record of the type: `fingerprint id through sealed open objects changed sealedThrough`. */
function changeRecord(tables: Tables, place: number, change: (number: number) => number): void {
  const meta = tables.get('meta');
  for (const { key, value } of meta.entries()) {
    if (key !== `type:${type.key}`) continue;
    const members = value.toString().split(' ');
    members[place] = String(change(Number(members[place])));
    meta.put(key, Buffer.from(members.join(' ')));
  }
}

const columns = `columns of ${type.key}`;
const cases: readonly (readonly [what: string, change: (tables: Tables) => void, found: object])[] = [
  [
    'a value',
    (tables) => {
      const { key, value } = segment(tables, changeKind, 4);
      value.writeDoubleLE(5, value.lastIndexOf(doubleOf(3)));
      tables.get('segments').put(key, value);
    },
    { table: `column spec.size of ${type.key}`, key: /^w\d+$/u, detail: /the values differ, at position \d+/u },
  ],
  [
    'bytes that hold no value',
    (tables) => {
      const { key, value } = segment(tables, changeKind, 1);
      tables.get('segments').put(key, Buffer.concat([value, Buffer.from([7])]));
    },
    { table: columns, key: 'segment 1', detail: /the contents first differ at byte \d+; SHA-256/u },
  ],
  [
    'a segment that is cut short',
    (tables) => {
      const { key, value } = segment(tables, changeKind, 1);
      tables.get('segments').put(key, value.subarray(0, 3));
    },
    { table: columns, key: 'segment 1', detail: /cannot be read/u },
  ],
  [
    'a missing segment',
    (tables) => {
      tables.get('segments').remove(segment(tables, changeKind, 2).key);
    },
    { table: columns, detail: /a segment is missing/u },
  ],
  [
    'a segment of a snapshot',
    (tables) => {
      const { key, value } = segment(tables, chunkKind, 1);
      tables.get('segments').put(key, flipLast(value));
    },
    { table: columns, key: /the snapshot at position \d+/u, detail: /segment \d+: the contents first differ at byte/u },
  ],
  [
    'a missing snapshot',
    (tables) => {
      const last = tables.get('snapshots').entries().at(-1);
      tables.get('snapshots').remove(last?.key ?? '');
    },
    { table: columns, key: 'the number of changes since the last snapshot' },
  ],
  [
    'the number of a name',
    (tables) => {
      const [first] = tables.get('names').entries();
      tables.get('names').put(first?.key ?? '', Buffer.from([9, 0, 0, 0]));
    },
    { table: columns, key: 'w0', detail: /the row belongs to another name, at position \d+/u },
  ],
  [
    'a name with the number of another one',
    (tables) => {
      const [first] = tables.get('names').entries();
      if (first === undefined) throw new Error('there are names');
      tables.get('names').put(Buffer.concat([Buffer.from(first.key), Buffer.from('-copy')]), first.value);
    },
    { table: `names in the ${columns}`, key: 'w0-copy', detail: /another name has the same ordinal/u },
  ],
  [
    'the position',
    (tables) => {
      changeRecord(tables, 2, () => 1_000_000);
      changeRecord(tables, 3, (sealed) => sealed - 1);
      changeRecord(tables, 4, () => 0);
    },
    { table: columns, detail: /the columns lack the change at position \d+/u },
  ],
  [
    'the number of objects',
    (tables) => {
      changeRecord(tables, 5, (number) => number + 1);
    },
    { table: columns, key: 'the number of objects', detail: 'the columns have 14, but the log gives 13' },
  ],
];

test('columns that were changed differ from the log, and the comparison names the place', async (t) => {
  const untouched = await givenColumns(t);
  t.match(await untouched.compare(), { difference: undefined, notCompared: [] });
  for (const [what, change, found] of cases) {
    const stage = await givenColumns(t);
    await stage.close();
    await tamper(stage, change);
    await stage.open();
    await settled();
    const { difference } = await stage.compare();
    t.match(difference, found, what);
    await stage.close();
  }
  await untouched.close();
});

test('rows in memory are compared, and a type without its plugin is named', async (t) => {
  const stage = await givenColumns(t);
  const held = stage.opened.part.hold();
  const { rows } = await stage.compare();
  const inMemory = held.columns[0]?.latest.length ?? 0;
  t.ok(inMemory > 0 && rows > inMemory, `${String(inMemory)} of ${String(rows)} rows are in memory`);
  await stage.declare(type.key, undefined);
  await settled();
  const reason = 'its plugin, which computes the values, is not started';
  const notCompared = [{ table: columns, reason }];
  t.strictSame(await stage.compare(), { difference: undefined, rows: 0, notCompared });
  await stage.close();
});
