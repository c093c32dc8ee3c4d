/** One changed byte, a removed and an added entry in each table of the audit indexes, in a stopped server's files. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { runCommand, type CommandRun } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { create, replay, widget, widgetsPath } from './replay-stage.ts';
import { tamperWith, type Tampered, type TamperedTable } from './tampering.ts';

async function givenFolder(t: Test): Promise<string> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  for (const name of ['a', 'b', 'c']) await create(server, widget(name));
  // More events of one type than a block of the stream has: so each table has an entry.
  for (let size = 2; size < 300; size += 1) await resize(server, size);
  t.match((await replay(server)).last, { kind: 'Result', equal: true, audit: { events: Number } });
  await server.close();
  return server.dataDir;
}

async function resize(server: TestServer, size: number): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = await server.call(`${widgetsPath}/b`, { method: 'PATCH', headers, body: { spec: { size } } });
  if (answer.status !== 200) throw new Error(await answer.text());
  await answer.text();
}

async function replayStopped(dataDir: string): Promise<CommandRun> {
  return runCommand(['audit', 'replay', '--stopped'], {
    variables: { DATA_DIR: dataDir, ADMIN_PASSWORD: testPassword },
  });
}

async function givenCopy(t: Test, dataDir: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'ledgerplane-tampered-audit-'));
  t.teardown(async () => rm(copy, { recursive: true, force: true }));
  for (const part of ['log', 'read-models', 'audit-models'])
    await cp(join(dataDir, part), join(copy, part), { recursive: true });
  return copy;
}

type Key = string | number | Uint8Array;
type Change = (entries: Tampered<Key>) => void;

/** Changes the last byte of the table's last entry. */
const lastByte: Change = (entries) => {
  const key = entries.keys().at(-1) ?? '';
  const value = Buffer.from(entries.get(key) ?? '');
  value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
  entries.put(key, value);
};

const removed: Change = (entries) => {
  entries.remove(entries.keys().at(-1) ?? '');
};

const differs = String.raw`the contents first differ at byte \d+; SHA-256 [0-9a-f]{64} live, [0-9a-f]{64} replayed`;
const lacks = 'the entry follows from the log, but is missing in the live read model';
const cases: readonly (readonly [table: Omit<TamperedTable, 'folder'>, change: Change, found: string])[] = [
  [
    { table: 'tree:rows', keyEncoding: 'uint32' },
    (entries) => {
      const value = Buffer.from(entries.get(0) ?? '');
      // The second leaf of the first row: 32 bytes of a hash, 8 of a position.
      value[41] = (value[41] ?? 0) ^ 1;
      entries.put(0, value);
    },
    String.raw`tree leaf 1 \(\w+ of \S+, revision \d+, position \d+\): ${differs}`,
  ],
  [{ table: 'tree:rows', keyEncoding: 'uint32' }, lastByte, `tree node 0 of level 8: ${differs}`],
  [{ table: 'tree:rows', keyEncoding: 'uint32' }, removed, `tree nodes of level 8 from 0 on: ${lacks}`],
  [{ table: 'tree:range' }, lastByte, `tree the nodes of the root: ${differs}`],
  [
    { table: 'versions:blocks', keyEncoding: 'binary' },
    (entries) => {
      const long = entries.keys().find((key) => key instanceof Uint8Array && key.length > 8) ?? '';
      const value = Buffer.from(entries.get(long) ?? '');
      value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
      entries.put(long, value);
    },
    String.raw`versions widgets\.example\.com/b, revisions from 256 on: ${differs}`,
  ],
  [
    { table: 'versions:blocks', keyEncoding: 'binary' },
    removed,
    String.raw`versions \S+, revisions from 0 on: ${lacks}`,
  ],
  [
    { table: 'versions:clashing', keyEncoding: 'binary' },
    (entries) => {
      entries.put(Buffer.alloc(32, 7), Buffer.from([1]));
    },
    'versions the stream with the digest (?:07){32}, revisions from 0 on: the entry is in the live read model',
  ],
  [{ table: 'times:blocks', keyEncoding: 'uint32' }, lastByte, String.raw`times times from \S+Z on: ${differs}`],
  [{ table: 'times:firsts', keyEncoding: 'uint32' }, lastByte, `times the first event: ${differs}`],
  [
    { table: 'events:tails' },
    (entries) => {
      entries.remove('twidgets.example.com');
    },
    String.raw`events type widgets\.example\.com, the last positions: ${lacks}`,
  ],
  [
    { table: 'events:blocks', keyEncoding: 'binary' },
    lastByte,
    String.raw`events type widgets\.example\.com, positions of the epoch from \d+ on: ${differs}`,
  ],
];

test('a replay of a stopped server names the changed entry of an audit index', async (t) => {
  const dataDir = await givenFolder(t);
  const untouched = await replayStopped(await givenCopy(t, dataDir));
  t.match(untouched, { code: 0, out: /no difference\n$/u }, untouched.err);
  for (const [table, change, found] of cases) {
    const copy = await givenCopy(t, dataDir);
    await tamperWith(copy, { folder: 'audit-models', ...table }, change);
    const run = await replayStopped(copy);
    const wanted = { code: 1, out: new RegExp(`the first difference is in ${found}`, 'u') };
    t.match(run, wanted, `${table.table}: ${run.err}`);
  }
});

test('audit indexes without a checkpoint, or of another version, are not compared', async (t) => {
  const dataDir = await givenFolder(t);
  const changes: readonly (readonly [change: Change, message: RegExp])[] = [
    [
      (meta) => {
        meta.remove('checkpoint');
      },
      /the audit indexes are empty: the server rebuilds them from the log/u,
    ],
    [
      (meta) => {
        meta.put('formats', Buffer.from('[["tree",0]]'));
      },
      /the audit indexes are of another version/u,
    ],
  ];
  for (const [change, message] of changes) {
    const copy = await givenCopy(t, dataDir);
    await tamperWith(copy, { folder: 'audit-models', table: 'meta' }, change);
    t.match(await replayStopped(copy), { code: 1, err: message });
  }
  const copy = await givenCopy(t, dataDir);
  await rm(join(copy, 'audit-models'), { recursive: true });
  t.match(await replayStopped(copy), { code: 1, err: /the audit indexes are missing or not valid/u });
});
