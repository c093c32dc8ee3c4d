/** `audit export`: its ranges, its messages, and what it leaves behind when it fails. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import { test, type Test } from 'tap';

import { parseExportLine, type ExportRecord } from '../../src/audit/proof/export-lines.ts';
import { counted } from '../../src/cli/text-table.ts';
import { bytesOf, sampleEvents, sampleExport } from '../audit/proof/sample-export.ts';
import { runCommand, type CommandRun } from '../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';

type Exporting = { readonly folder: string; readonly run: (...args: readonly string[]) => Promise<CommandRun> };

function exporting(t: Test, url: string): Exporting {
  const folder = t.testdir();
  const variables = { LEDGERPLANE_SERVER: url, LEDGERPLANE_PASSWORD: testPassword };
  const run = async (...args: readonly string[]): Promise<CommandRun> =>
    runCommand(['audit', 'export', '--user', 'admin', ...args], { folder, variables });
  return { folder, run };
}

async function given(t: Test): Promise<Exporting & { readonly server: TestServer }> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  while (!(await server.call('/audit/tree/checkpoint')).ok) await new Promise(setImmediate);
  return { server, ...exporting(t, server.url) };
}

/** A server that answers like this, in place of a real one that would have to fail in the middle. */
async function answering(t: Test, listener: RequestListener): Promise<Exporting> {
  const server = createHttpServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return exporting(t, `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
}

function recordsIn(file: Buffer): readonly ExportRecord[] {
  return file
    .toString()
    .split('\n')
    .flatMap((line) => {
      const parsed = parseExportLine(Buffer.from(line));
      return parsed.ok ? [parsed.record] : [];
    });
}

const lines = bytesOf(sampleExport(sampleEvents(20), [0, 20], [10]))
  .toString()
  .split(/(?<=\n)/u);

test('an export that cannot begin leaves no file', async (t) => {
  const { folder, run } = await given(t);
  for (const more of [[], ['--gzip'], ['--resume']]) {
    const refused = await run('--output', 'log', '--until', 'leaf:999999', ...more);
    t.match(refused, { code: 1, err: /there is no leaf 999999/u });
    t.notOk(existsSync(join(folder, 'log')), more.join());
  }
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const away = exporting(t, `http://127.0.0.1:${String(port)}`);
  const unreached = await away.run('--output', 'log');
  t.match(unreached, { code: 1, err: /^ledgerplane: cannot reach [^\n]+\n$/u });
  t.notOk(existsSync(join(away.folder, 'log')));
  t.match(await run('--output', 'none/log'), { code: 1, err: /^ledgerplane: cannot write none\/log \(ENOENT\)\n$/u });
});

test('an export that ends in the middle keeps its lines, and says so', async (t) => {
  const ends: readonly (readonly [RequestListener, RegExp])[] = [
    [(_req, res) => res.write(lines.slice(0, 6).join(''), () => res.destroy()), /the connection .* was lost/u],
    [(_req, res) => res.end(lines.slice(0, 6).join('')), /the connection was lost before the end of the export/u],
    [
      (_req, res) => res.end(`${lines.slice(0, 6).join('')}{"kind":"Failure","message":"full"}\n`),
      /the server stopped the export: "message":"full"/u,
    ],
  ];
  for (const [listener, words] of ends)
    for (const more of [[], ['--gzip']]) {
      const { folder, run } = await answering(t, listener);
      const { code, err } = await run('--output', 'log', ...more);
      t.equal(code, 1);
      t.match(err, words);
      t.match(err, /^ledgerplane: log contains the lines that arrived: use --resume to continue the file$/mu);
      const file = readFileSync(join(folder, 'log'));
      const plain = more.length > 0 ? gunzipSync(file) : file;
      t.equal(plain.toString(), lines.slice(0, 6).join(''));
      t.notMatch((await run()).err, /--resume/u, 'standard output cannot be continued');
    }
});

test('files that cannot be continued are left as they are, with a reason', async (t) => {
  const { folder, run } = await given(t);
  await run('--output', 'whole', '--gzip');
  const damaged = readFileSync(join(folder, 'whole'));
  damaged.fill(0xff, 40, 60);
  const cases: readonly (readonly [Uint8Array, RegExp])[] = [
    [damaged, /cannot be continued: the gzipped file is damaged \(Z_\w+\)/u],
    [gzipSync('hello'), /cannot be continued: the file is not an export/u],
    [gzipSync('hello '.repeat(50)).subarray(0, -9), /cannot be continued: the file is not an export/u],
    [Buffer.from('hello'), /cannot be continued: the file is not an export/u],
    [Buffer.from('hello\n'), /cannot be continued: line 1 is not a line of an export/u],
    [Buffer.from(`${lines.slice(0, 3).join('')}{}\n`), /cannot be continued: line 4 is not a line of an export/u],
    [Buffer.from([...lines.slice(0, 3), lines[5]].join('')), /line 4 does not continue the previous lines/u],
    [Buffer.from(lines.slice(0, 3).join('')), /the file cannot be continued: log is a-log in the file, and /u],
  ];
  for (const [content, words] of cases) {
    writeFileSync(join(folder, 'log'), content);
    const { code, err } = await run('--output', 'log', '--resume');
    t.not(code, 0);
    t.match(err, words);
    t.notMatch(err, /\n\s+at /u, 'no stack');
    t.strictSame(readFileSync(join(folder, 'log')), Buffer.from(content));
  }
  t.match(await run('--output', '.', '--resume'), { code: 2, err: /\. cannot be read \(EISDIR\)/u });
  for (const content of ['', '{"kind":"Expo']) {
    writeFileSync(join(folder, 'log'), content);
    t.match(await run('--output', 'log', '--resume'), {
      code: 0,
      err: /^ledgerplane: log has no complete line of an export: a new export begins\nexported leaves 0 to \d+ /u,
    });
  }
  t.match(await run('--output', 'other', '--resume'), {
    code: 0,
    err: /^ledgerplane: other does not exist: a new export begins\nexported leaves 0 to \d+ to other\n$/u,
  });
});

test('a range begins with the place that --from names, and messages name that place', async (t) => {
  const { folder, run, server } = await given(t);
  await run('--output', 'all');
  const events = recordsIn(readFileSync(join(folder, 'all'))).flatMap((one) => (one.kind === 'Event' ? [one] : []));
  const size = events.length;
  const timeOf = ({ metadata }: (typeof events)[number]): string => {
    const text = typeof metadata === 'string' ? metadata : Buffer.from(metadata).toString();
    return (JSON.parse(text) as { readonly time: string }).time;
  };
  const [third] = events.slice(3);
  if (third === undefined) throw new Error('too few events');
  const sameTime = events.findIndex((event) => timeOf(event) >= timeOf(third));
  const froms: readonly (readonly [string, number])[] = [
    ['leaf:3', 3],
    ['leaf:0', 0],
    [String(third.position), 3],
    [timeOf(third), sameTime],
  ];
  for (const [at, [from, first]] of froms.entries()) {
    const name = `part-${String(at)}`;
    t.match(await run('--from', from, '--output', name), { code: 0 }, from);
    t.match(recordsIn(readFileSync(join(folder, name)))[0], { kind: 'Export', from: first, until: size }, from);
  }
  t.match(await run('--from', '0', '--output', 'none'), {
    code: 1,
    err: /position 0 is before the log’s first event/u,
  });
  t.match(await run('--from', 'leaf:3', '--until', 'leaf:3', '--output', 'one'), { err: 'exported leaf 3 to one\n' });
  t.match(await run('--from', 'leaf:999', '--output', 'x'), { code: 1, err: /there is no leaf 999: the tree has / });
  const beyond = String(events.reduce((last, { position }) => (position > last ? position : last), 0n) + 999n);
  t.match(await run('--from', beyond, '--output', 'x'), {
    code: 1,
    err: new RegExp(`position ${beyond} is beyond the `, 'u'),
  });
  t.match(await run('--from', 'leaf:5', '--until', 'leaf:2'), { code: 1, err: /from is later than until/u });
  const both = await server.call('/apis/audit.svc.run/v1alpha1/export?from=leaf:1&after=leaf:1');
  t.equal(both.status, 400);
  t.match(await both.text(), /from and after cannot be combined/u);
  const now = new Date().toISOString();
  t.match(await run('--from', now, '--output', 'none'), { code: 0, err: 'exported no leaves to none\n' });
  t.ok(statSync(join(folder, 'none')).size > 0);
});

test('one is counted in the singular', async (t) => {
  t.strictSame(
    [0, 1, 2, 1_234].map((count) => counted(count, 'event')),
    ['0 events', '1 event', '2 events', '1,234 events'],
  );
  t.strictSame(
    [1, 2].map((count) => counted(count, 'leaf')),
    ['1 leaf', '2 leaves'],
  );
});
