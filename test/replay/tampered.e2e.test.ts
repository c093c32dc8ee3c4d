import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { decodeRow, encodeRow } from '../../projections/row.ts';
import { runCommand, type CommandRun } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { create, replay, widget, widgets, widgetsPath } from './replay-stage.ts';
import { tamper, type Tampered } from './tampering.ts';

async function givenServer(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  for (const name of ['a', 'b', 'c', 'gone'])
    await create(server, widget(name, { title: `the widget ${name}` }, { labels: { part: 'one' } }));
  await server.call(`${widgetsPath}/gone`, { method: 'DELETE' });
  return server;
}

async function replayStopped(dataDir: string, ...args: readonly string[]): Promise<CommandRun> {
  return runCommand(['audit', 'replay', '--stopped', ...args], {
    variables: { DATA_DIR: dataDir, ADMIN_PASSWORD: testPassword },
  });
}

const row = `${widgets}/b`;
const cases: readonly (readonly [what: string, table: string, change: (entries: Tampered) => void, found: RegExp])[] = [
  [
    'a row',
    'rows',
    (rows) => {
      const decoded = decodeRow(rows.get(row) ?? Buffer.alloc(0));
      const answer = Buffer.from(Buffer.from(decoded.answer).toString().replace('the widget b', 'the widget x'));
      rows.put(row, encodeRow({ ...decoded, answer }));
    },
    /rows \S+\/b: the contents first differ at byte \d+ of the row, at \/spec\/title; SHA-256 [0-9a-f]{64} live/u,
  ],
  [
    'a removed row',
    'rows',
    (rows) => {
      rows.remove(row);
    },
    /rows widgets\.example\.com\/b: the entry follows from the log, but is missing in the live read model/u,
  ],
  [
    'an added row',
    'rows',
    (rows) => {
      rows.put(`${widgets}/bb`, rows.get(row) ?? Buffer.alloc(0));
    },
    /rows widgets\.example\.com\/bb: the entry is in the live read model, but does not follow from the log/u,
  ],
  [
    'the revision of a deleted name',
    'gone',
    (gone) => {
      gone.remove(`${widgets}/gone`);
    },
    /gone widgets\.example\.com\/gone: the entry follows from the log/u,
  ],
  [
    'the head of a stream',
    'heads',
    (heads) => {
      const [key = ''] = heads.keys();
      heads.remove(key);
    },
    /heads \S+: the entry follows from the log/u,
  ],
  [
    'a secret',
    'secrets',
    (secrets) => {
      const [key = ''] = secrets.keys();
      secrets.put(key, Buffer.from('another hash'));
    },
    /secrets \S+: the secret differs; secrets are not shown/u,
  ],
  [
    'the level',
    'meta',
    (meta) => {
      meta.put('level', Buffer.from('1'));
    },
    /meta level: the contents first differ at byte 0; SHA-256/u,
  ],
];

test('a replay of a stopped server names what was changed', async (t) => {
  const server = await givenServer(t);
  await server.close();
  const untouched = await replayStopped(server.dataDir);
  t.match(untouched, { code: 0, out: /no difference\n$/u }, untouched.err);
  for (const [what, table, change, found] of cases) {
    const dataDir = await mkdtemp(join(tmpdir(), 'ledgerplane-tampered-'));
    t.teardown(async () => rm(dataDir, { recursive: true, force: true }));
    for (const part of ['log', 'read-models', 'audit-models'])
      await cp(join(server.dataDir, part), join(dataDir, part), { recursive: true });
    await tamper(dataDir, table, change);
    const run = await replayStopped(dataDir);
    t.match(run, { code: 1, out: found }, `${what}: ${run.err}`);
    const folder = join(dataDir, 'replay');
    t.notOk(existsSync(folder) && readdirSync(folder).length > 0, 'no file is left');
  }
});

test('a running server names a changed row, and the index that a changed entry made wrong', async (t) => {
  const server = await givenServer(t);
  await server.close();
  await tamper(server.dataDir, 'rows', (rows) => {
    const decoded = decodeRow(rows.get(row) ?? Buffer.alloc(0));
    const entry = Buffer.from(decoded.entry);
    const at = entry.indexOf('the widget b');
    entry.write('the widget x', at, 'latin1');
    rows.put(row, encodeRow({ ...decoded, entry }));
  });
  const again = await server.restart();
  t.teardown(async () => again.remove());
  const listed = await again.call(`${widgetsPath}?fieldSelector=spec.title%3Dthe widget x`);
  t.match(await listed.json(), { items: [{ metadata: { name: 'b' } }] }, 'the index is wrong');
  const { last } = await replay(again);
  t.match(last, {
    kind: 'Result',
    equal: false,
    difference: { table: `indexes of ${widgets}`, key: 'b', detail: /^the index entry stored in the row/u },
  });
});

test('a stopped server’s files are opened by nobody else, and unknown ones are refused', async (t) => {
  const server = await givenServer(t);
  t.match(await replayStopped(server.dataDir), { code: 2, err: /another server is running on DATA_DIR/u });
  await server.close();
  t.match(await replayStopped(join(server.dataDir, 'none')), { code: 2, err: /has no log/u });
  t.match(await replayStopped(server.dataDir, '--until', 'yesterday'), { code: 2, err: /"until" must be a position/u });
});
