/** Changes the columns of a served type in the files of a stopped server: the next replay names the changed place. */
import { test, type Test } from 'tap';

import { runCommand } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { create, replay, widget, widgets, widgetsPath } from './replay-stage.ts';
import { tamperWith } from './tampering.ts';

const segments = { folder: 'audit-models', table: 'columns:segments', keyEncoding: 'binary' } as const;

/** A server with widgets, and with columns of their type, which the first list of the past makes. */
async function givenColumns(t: Test): Promise<{ readonly server: TestServer; readonly rows: number }> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  let position = '';
  for (const [index, name] of ['a', 'b', 'c'].entries())
    position = await create(server, widget(name, { size: 91 + index }));
  await list(server, position);
  const { last } = await replay(server);
  t.match(last, { kind: 'Result', equal: true, compared: { columns: Number } });
  const { columns: rows } = last['compared'] as { readonly columns: number };
  t.ok(rows >= 3, `${String(rows)} rows`);
  return { server, rows };
}

async function list(server: TestServer, position: string): Promise<void> {
  for (;;) {
    const answer = await server.call(`${widgetsPath}?at=${position}`);
    const text = await answer.text();
    if (answer.status === 200) return;
    if (answer.status !== 503) throw new Error(text);
  }
}

function doubleOf(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

test('a changed value in a column is named by index, type, object and position', async (t) => {
  const { server } = await givenColumns(t);
  await server.close();
  await tamperWith<Uint8Array>(server.dataDir, segments, (entries) => {
    for (const key of entries.keys()) {
      const value = Buffer.from(entries.get(key) ?? '');
      const at = value.indexOf(doubleOf(92));
      if (at === -1) continue;
      value.writeDoubleLE(92.5, at);
      entries.put(key, value);
    }
  });
  const again = await startTestServer({ dataDir: server.dataDir });
  t.teardown(async () => again.close());
  t.match((await replay(again)).last, {
    kind: 'Result',
    equal: false,
    difference: { table: `column spec.size of ${widgets}`, key: 'b', detail: /^the values differ, at position \d+$/u },
  });
});

test('columns without their plugin are reported, by a server and by the command', async (t) => {
  const { server } = await givenColumns(t);
  await server.close();
  const stopped = await runCommand(['audit', 'replay', '--stopped'], {
    variables: { DATA_DIR: server.dataDir, ADMIN_PASSWORD: testPassword },
  });
  const reason = 'the server is stopped, and only running plugins can compute the values';
  t.match(stopped, {
    code: 0,
    out: new RegExp(`\nnot compared: columns of ${widgets}: ${reason}\nno difference\n$`, 'u'),
  });
  t.match(stopped, { out: new RegExp(`\nnot compared: index entries of rows: ${reason}\n`, 'u') });

  const without = await startTestServer({ dataDir: server.dataDir, environment: { PLUGINS_DISABLED: 'example' } });
  t.teardown(async () => without.close());
  const notCompared = [
    { table: `columns of ${widgets}`, reason: 'its plugin, which computes the values, is not started' },
  ];
  t.match((await replay(without)).last, { kind: 'Result', equal: true, compared: { columns: 0 }, notCompared });
});
