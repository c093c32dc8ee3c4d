/** The export of a log in EventStoreDB, and of a copy of it on the embedded one: the leaves are equal. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { parseExportLine, type ExportedEvent } from '../../../src/audit/proof/export-lines.ts';
import { leafOf } from '../../../src/audit/proof/leaf-entry.ts';
import { commentServer, startLogServer } from '../../nodes/support/log-server.ts';
import { logSettings } from '../../support/memory/event-log.ts';
import { runCommand } from '../../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../../support/server/start-server.ts';
import { secondVerifier } from './second-verifier.ts';

commentServer(t);

const widgets = '/apis/example.com/v1alpha1/widgets';

type Exported = { readonly events: readonly ExportedEvent[]; readonly origin: string };

/** Exports the whole log, and verifies it in both ways. */
async function exported(t: Test, server: TestServer, folder: string, name: string): Promise<Exported> {
  const variables = { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword };
  const keys = await keyOf(server);
  const args = ['audit', 'export', '--output', name, '--user', 'admin'];
  const written = await runCommand(args, { folder, variables });
  t.equal(written.code, 0, written.err);
  const verdict = await runCommand(['audit', 'verify', name, '--key', keys], { folder });
  t.equal(verdict.code, 0, verdict.err);
  const file = await readFile(join(folder, name));
  t.equal(secondVerifier(file, keys), undefined);
  const records = file
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => parseExportLine(Buffer.from(line)));
  const all = records.flatMap((parsed) => (parsed.ok ? [parsed.record] : []));
  const header = all.find((record) => record.kind === 'Export');
  return { events: all.filter((record) => record.kind === 'Event'), origin: header?.origin ?? '' };
}

/** The node's key, once it may sign. */
async function keyOf(server: TestServer): Promise<string> {
  for (;;) {
    const signed = await server.call('/audit/tree/checkpoint');
    await signed.text();
    if (signed.status === 200) break;
    if (signed.status !== 503) throw new Error(`the checkpoint: ${String(signed.status)}`);
  }
  const { items } = (await (await server.call('/audit/tree/keys')).json()) as {
    readonly items: readonly { readonly verifierKey: string }[];
  };
  return items.at(-1)?.verifierKey ?? '';
}

test('a log in EventStoreDB is exported and verified, and its copy has the same leaves', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-audit-'));
  t.teardown(async () => rm(folder, { recursive: true, force: true }));
  const log = await startLogServer(t);
  const server = await startTestServer({ environment: logSettings(log) });
  t.teardown(async () => server.remove());
  for (const name of ['lamp', 'bulb']) {
    const body = { metadata: { name }, spec: { title: name } };
    t.equal((await server.call(widgets, { method: 'POST', body })).status, 201);
  }
  // Two events in one append, which EventStoreDB stores with a mark of their places.
  t.equal((await server.call(`${widgets}/bulb`, { method: 'DELETE' })).status, 200);
  const there = await exported(t, server, folder, 'eventstore.jsonl');
  t.ok(there.events.some(({ stream, type }) => stream.endsWith('/bulb') && type === 'ObjectDeleted'));
  await server.close();

  const copyDir = join(folder, 'copy');
  const copied = await runCommand(['log', 'copy', '--from', log.url, '--to', `embedded:${copyDir}`], {
    folder,
    variables: { DATA_DIR: server.dataDir, EVENTSTORE_PREFIX: log.prefix },
  });
  t.equal(copied.code, 0, copied.err);
  const copy = await startTestServer({ dataDir: copyDir });
  t.teardown(async () => copy.remove());
  const here = await exported(t, copy, folder, 'copy.jsonl');
  t.equal(here.origin, there.origin, 'a copy goes on with the tree');
  const leaves = there.events.map((event) => Buffer.from(leafOf(event)).toString('hex'));
  const common = here.events.slice(0, leaves.length).map((event) => Buffer.from(leafOf(event)).toString('hex'));
  t.strictSame(common, leaves);
});
