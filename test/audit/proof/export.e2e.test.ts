/** Export, verification and witness, as an auditor does them: commands against a real server. */
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { test, type Test } from 'tap';

import { checkpointText, parseCheckpoint, type Checkpoint } from '../../../src/audit/proof/checkpoint.ts';
import { exportLine, parseExportLine, type ExportRecord } from '../../../src/audit/proof/export-lines.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { noteSigner, parseNote, signNote } from '../../../src/audit/proof/signed-note.ts';
import { nodeKey } from '../../../src/disk/node-key.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { runCommandLine } from '../../support/server/command-line.ts';
import { runCommand, type CommandRun } from '../../support/server/command-run.ts';
import { startTestServer, testPassword, type TestServer } from '../../support/server/start-server.ts';
import { secondVerifier } from './second-verifier.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';

type Auditor = {
  readonly server: TestServer;
  readonly folder: string;
  readonly key: string;
  readonly run: (...args: readonly string[]) => Promise<CommandRun>;
};

/** Asks again while the node is not ready to sign. */
async function untilServed(server: TestServer, path: string): Promise<Response> {
  for (;;) {
    const answer = await server.call(path);
    if (answer.status !== 503) return answer;
    if (!answer.headers.has('retry-after')) throw new Error('a refusal for now says when to come again');
    await answer.text();
  }
}

async function given(t: Test, options: Parameters<typeof startTestServer>[0] = {}): Promise<Auditor> {
  const server = await startTestServer(options);
  t.teardown(async () => server.remove());
  for (const name of ['lamp', 'bulb', 'desk']) await create(server, name);
  await server.call(`${widgets}/bulb`, { method: 'DELETE' });
  await (await untilServed(server, '/audit/tree/checkpoint')).text();
  const { items } = (await (await server.call('/audit/tree/keys')).json()) as {
    readonly items: readonly [{ readonly verifierKey: string }];
  };
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-audit-'));
  t.teardown(async () => rm(folder, { recursive: true, force: true }));
  const variables = { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword };
  const run = async (...args: readonly string[]): Promise<CommandRun> => {
    const user = args[0] === 'verify' ? [] : ['--user', 'admin'];
    return runCommand(['audit', ...args, ...user], { folder, variables });
  };
  return { server, folder, key: items[0].verifierKey, run };
}

async function create(server: TestServer, name: string): Promise<void> {
  const answer = await server.call(widgets, { method: 'POST', body: { metadata: { name }, spec: { title: name } } });
  if (answer.status !== 201) throw new Error(await answer.text());
}

function recordsOf(file: Buffer): readonly ExportRecord[] {
  const lines = file.toString().split('\n').slice(0, -1);
  return lines.map((line) => {
    const parsed = parseExportLine(Buffer.from(line));
    if (!parsed.ok) throw new Error(`${parsed.problem}: ${line}`);
    return parsed.record;
  });
}

test('an export is verified with nothing but the file and the key, and every event of the log is in it', async (t) => {
  const { server, folder, key, run } = await given(t);
  const exported = await run('export', '--output', 'all.jsonl');
  t.match(exported, { code: 0, err: /^exported leaves 0 to \d+ to all\.jsonl\n$/u });
  const file = readFileSync(join(folder, 'all.jsonl'));
  t.equal(statSync(join(folder, 'all.jsonl')).mode & 0o077, 0, 'for its user only');
  await server.close();
  const verdict = await run('verify', 'all.jsonl', '--key', key);
  t.match(verdict, { code: 0, err: '', out: /^verified: \d+ events, leaves 0 to \d+, positions \d+ to \d+ \(/u });
  t.equal(secondVerifier(file, key), undefined, 'the second verifier agrees');
  const events = recordsOf(file).flatMap((record) => (record.kind === 'Event' ? [record] : []));
  const names = events.map(({ stream, type }) => `${stream} ${type}`);
  for (const name of ['lamp', 'bulb', 'desk']) t.ok(names.includes(`object:widgets.example.com/${name} ObjectCreated`));
  t.ok(names.includes('object:widgets.example.com/bulb ObjectDeleted'));
  t.ok(names.some((name) => name.startsWith('secret:')) && names.some((name) => name.startsWith('platform:keys')));
  t.notOk(
    names.some((name) => /^(?:lease:|platform:log)/u.test(name)),
    'no leases, no founding',
  );
  for (const { stream, data } of events)
    t.equal(typeof data === 'object' && 'sha256' in data, stream.startsWith('secret:'), `${stream} shows its data`);
});

test('a tampered export is caught: each event that is changed, and an event that is taken out', async (t) => {
  const { folder, key, run } = await given(t);
  await run('export', '--output', 'all.jsonl');
  const path = join(folder, 'all.jsonl');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('\\"title\\":\\"lamp\\"', '\\"title\\":\\"limp\\"'));
  const changed = await run('verify', 'all.jsonl', '--key', key);
  t.match(changed, { code: 1, err: /all\.jsonl is not verified: line \d+, at leaf \d+, has been changed/u });
  // With a sum of its own the line is whole, and the tree shows the change.
  const records = recordsOf(Buffer.from(text));
  const resealed = records.map((record) =>
    record.kind === 'Event' && record.stream.endsWith('/lamp') ? { ...record, type: 'ObjectDeleted' } : record,
  );
  writeFileSync(path, Buffer.concat(resealed.map(exportLine)));
  t.match(await run('verify', 'all.jsonl', '--key', key), {
    code: 1,
    err: /one of the leaves 0 to \d+ has been changed/u,
  });
  const lines = text.split('\n');
  writeFileSync(path, [...lines.slice(0, 5), ...lines.slice(6)].join('\n'));
  t.match(await run('verify', 'all.jsonl', '--key', key), { code: 1, err: /leaf 5 .* is in the place of leaf 4/u });
});

test('parts of the log are verified alone, by leaf, position and time', async (t) => {
  const { server, folder, key, run } = await given(t);
  await run('export', '--output', 'all.jsonl');
  const all = recordsOf(readFileSync(join(folder, 'all.jsonl'))).flatMap((one) => (one.kind === 'Event' ? [one] : []));
  const [first, last] = [all.at(3), all.at(-4)];
  if (first === undefined || last === undefined) throw new Error('too few events');
  const ranges: readonly (readonly [string, string])[] = [
    ['leaf:3', `leaf:${String(last.index)}`],
    [first.position.toString(), last.position.toString()],
  ];
  for (const [at, [from, until]] of ranges.entries()) {
    const name = `part-${String(at)}.jsonl`;
    t.match(await run('export', '--from', from, '--until', until, '--output', name), { code: 0 });
    const [header] = recordsOf(readFileSync(join(folder, name)));
    t.match(header, { kind: 'Export', from: 3, until: last.index + 1 });
    t.match(await run('verify', name, '--key', key), { code: 0 });
    t.equal(secondVerifier(readFileSync(join(folder, name)), key), undefined);
  }
  const now = new Date().toISOString();
  const later = await server.call(`/apis/audit.svc.run/v1alpha1/export?after=${now}`);
  t.match(recordsOf(Buffer.from(await later.arrayBuffer()))[0], { kind: 'Export', from: all.length });
  for (const whole of ['after=0', 'from=1999-01-01T00:00:00Z']) {
    const answer = await server.call(`/apis/audit.svc.run/v1alpha1/export?${whole}`);
    t.match(recordsOf(Buffer.from(await answer.arrayBuffer()))[0], { kind: 'Export', from: 0 }, whole);
  }
  const refusals: readonly (readonly [query: string, status: number, text: RegExp])[] = [
    ['after=leaf:999999', 400, /there is no leaf 999999/u],
    ['until=99999999', 400, /is beyond the end of the log/u],
    ['from=0', 400, /position 0 is before the log’s first event/u],
    ['until=0', 400, /position 0 is before the log’s first event/u],
    ['until=1999-01-01T00:00:00Z', 400, /1999-01-01T00:00:00\.000Z is before the log’s first event/u],
    [`from=${'9'.repeat(20)}`, 410, /belongs to another epoch/u],
    ['until=2999-01-01T00:00:00Z', 400, /is in the future/u],
    ['after=leaf:5&until=leaf:2', 400, /after is later than until/u],
    ['after=yesterday', 400, /after must be a position/u],
    ['after=leaf:1&after=leaf:2', 400, /must not be repeated/u],
    ['untl=leaf:2', 400, /did you mean .{1,2}until/u],
    ['After=leaf:2', 400, /did you mean .{1,2}after/u],
    ['fieldSelector=actor=admin', 400, /fieldSelector: is not a parameter of an export/u],
    ['limit=5', 400, /limit: is not a parameter of an export/u],
  ];
  for (const [query, status, text] of refusals) {
    const answer = await server.call(`/apis/audit.svc.run/v1alpha1/export?${query}`);
    t.equal(answer.status, status, query);
    t.match(await answer.text(), text);
  }
});

test('an export that was interrupted goes on after its last whole line, gzipped too', async (t) => {
  const { folder, key, run } = await given(t);
  for (const [name, ...more] of [['log.jsonl'], ['log.jsonl.gz', '--gzip']] as const) {
    t.match(await run('export', '--output', name, ...more), { code: 0 });
    const path = join(folder, name);
    const whole = readFileSync(path);
    const plain = name.endsWith('.gz') ? gunzipSync(whole) : whole;
    truncateSync(path, Math.floor(whole.length * 0.6));
    t.match(await run('verify', name, '--key', key), { code: 1, err: /truncated/u });
    t.match(await run('export', '--output', name), {
      code: 2,
      err: /already exists: use --resume to continue the file/u,
    });
    t.match(await run('export', '--output', name, '--resume'), { code: 0, err: /from leaf \d+ on/u });
    t.match(await run('verify', name, '--key', key), { code: 0 });
    const resumed = name.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path);
    t.strictSame(recordsOf(resumed).slice(0, -1), recordsOf(plain).slice(0, -1), 'the same events');
    t.match(await run('export', '--output', name, '--resume'), { code: 0, err: /is complete/u });
    writeFileSync(path, '{"kind":"Export"');
    t.match(await run('export', '--output', name, '--resume', ...more), { code: 0 });
    t.match(await run('verify', name, '--key', key), { code: 0 });
  }
});

test('standard output has the same lines', async (t) => {
  const { folder, key, run } = await given(t);
  const { code, out } = await run('export');
  t.equal(code, 0);
  writeFileSync(join(folder, 'out.jsonl'), out);
  t.match(await run('verify', 'out.jsonl', '--key', key), { code: 0 });
  t.match(await run('export', '--gzip'), { code: 2, err: /require --output/u });
});

test('an export needs the right to the whole log', async (t) => {
  const { server } = await given(t);
  const anonymous = await fetch(`${server.url}/apis/audit.svc.run/v1alpha1/export`);
  t.equal(anonymous.status, 401);
  const administration = new Administration(server.url);
  await administration.user('jane');
  const ask = async (): Promise<number> => {
    const answer = await fetch(`${server.url}/apis/audit.svc.run/v1alpha1/export`, {
      headers: as('jane'),
    });
    await answer.text();
    return answer.status;
  };
  t.equal(await ask(), 403);
  await administration.bind('jane-audits', 'role-template-audit-viewer', 'jane');
  t.equal(await ask(), 200);
});

test('a witness keeps checkpoints, and reports two that do not agree', async (t) => {
  const { server, folder, run } = await given(t);
  t.match(await run('witness', '--dir', 'w'), { code: 0, out: /leaves is the first checkpoint of this tree/u });
  await create(server, 'chair');
  t.match(await run('witness', '--dir', 'w'), { code: 0, out: /leaves extends the checkpoint of \d+ leaves/u });
  t.match(await run('witness', '--dir', 'w'), { code: 0 });
  const other = await given(t);
  const variables = { LEDGERPLANE_SERVER: other.server.url, LEDGERPLANE_PASSWORD: testPassword };
  const elsewhere = async (...args: readonly string[]): Promise<CommandRun> =>
    runCommand(['audit', 'witness', '--dir', 'w', '--user', 'admin', ...args], { folder, variables });
  t.match(await elsewhere(), {
    code: 1,
    err: /no trusted key has signed the checkpoint[^]*new key and --new-tree once/u,
  });
  t.match(await elsewhere('--key', other.key), { code: 1, err: /another tree than before[^]*stored:[^]*shown now:/u });
  t.match(await elsewhere('--key', other.key, '--new-tree'), { code: 0, out: /the first checkpoint of this tree/u });

  t.match(await run('witness', '--dir', 'wrong', '--key', other.key), { code: 1, err: /no trusted key has signed/u });
  t.notOk(existsSync(join(folder, 'wrong')), 'a run that fails stores nothing');
});

type Kept = {
  /** The folder of its tree. */
  readonly folder: string;
  readonly path: string;
  readonly note: string;
  readonly checkpoint: Checkpoint;
  /** Another checkpoint of this tree with the signature of the node: its operator has written another history. */
  readonly signed: (other: Partial<Checkpoint>) => string;
};

/** The only checkpoint that the witness in the folder `w` has. */
async function keptIn(folder: string, { dataDir }: TestServer): Promise<Kept> {
  const [tree = ''] = readdirSync(join(folder, 'w')).filter((name) => /^[0-9a-f]{64}$/u.test(name));
  const ofTree = join(folder, 'w', tree);
  const [name = ''] = readdirSync(ofTree);
  const note = readFileSync(join(ofTree, name), 'utf8');
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '');
  if (checkpoint === undefined) throw new Error(`no checkpoint: ${note}`);
  const signer = noteSigner(checkpoint.origin, await nodeKey(join(dataDir, 'keys')));
  const signed = (other: Partial<Checkpoint>): string =>
    signNote(checkpointText({ ...checkpoint, ...other }), [signer]);
  return { folder: ofTree, path: join(ofTree, name), note, checkpoint, signed };
}

const rootText = ({ root }: Pick<Checkpoint, 'root'>): string => Buffer.from(root).toString('base64');

test('a witness prints both of two checkpoints of one tree that do not agree', async (t) => {
  const { server, folder, run } = await given(t);
  const settled = async (): Promise<CommandRun> => run('witness', '--dir', 'w');
  await settled();
  const { path, note, checkpoint, signed, folder: ofTree } = await keptIn(folder, server);
  const root = Buffer.alloc(32, 1);
  writeFileSync(path, signed({ root }));
  const same = await settled();
  t.match(same, { code: 1, err: /two checkpoints do not agree: the log was changed/u });
  for (const one of [checkpoint, { root }]) t.ok(same.err.includes(rootText(one)), 'both are printed');
  await create(server, 'stool');
  t.match(await settled(), { code: 1, err: /two checkpoints do not agree/u }, 'nor does a later one');
  writeFileSync(path, note);
  t.match(await settled(), { code: 0, out: /extends the checkpoint of/u });
  writeFileSync(path, signed({ root }));
  t.match(await settled(), { code: 1, err: /two checkpoints do not agree/u }, 'each earlier one is compared');
  writeFileSync(path, note);
  // The kept one is larger than any that the server can show: as if its log had been rolled back.
  const size = checkpoint.size + 1_000;
  writeFileSync(join(ofTree, `${String(size)}.note`), signed({ size }));
  const hurried = {
    ...systemClock,
    after: (ms: number, run: () => void) => systemClock.after(ms > 9_999 ? ms : 0, run),
  };
  const variables = { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword };
  const options = { folder, variables, clock: hurried };
  const rolledBack = await runCommand(['audit', 'witness', '--dir', 'w', '--user', 'admin'], options);
  t.match(rolledBack, { code: 1, err: /an older tree than before/u });
  const ownProcess = runCommandLine(['audit', 'witness', '--dir', 'w', '--user', 'admin'], {
    cwd: folder,
    env: variables,
  });
  t.equal(await ownProcess.exited(), 1, 'the process waits for its retries');
  t.match(ownProcess.stderr(), /an older tree than before/u);
});

test('a witness verifies what it has kept, and names a damaged file', async (t) => {
  const { server, folder, run } = await given(t);
  const settled = async (...more: readonly string[]): Promise<CommandRun> => run('witness', '--dir', 'w', ...more);
  await settled();
  const { path, note, checkpoint, signed, folder: ofTree } = await keptIn(folder, server);
  const keys = join(folder, 'w', 'keys');
  const [kept, last] = [readFileSync(keys, 'utf8'), readFileSync(join(folder, 'w', 'last'), 'utf8')];
  const stranger = signNote(checkpointText(checkpoint), [noteSigner(checkpoint.origin, Buffer.alloc(32, 5))]);
  const forged = note.replace(rootText(checkpoint), rootText({ root: Buffer.alloc(32, 1) }));
  const cases: readonly (readonly [file: string, content: string, detail: RegExp])[] = [
    [path, 'nothing', /\.note is damaged: it is not a checkpoint/u],
    [path, '', /\.note is damaged: it is not a checkpoint/u],
    [path, forged, /\.note is damaged: the signature of its checkpoint is wrong/u],
    [path, stranger, /\.note is damaged: no trusted key has signed its checkpoint/u],
    [path, signed({ size: 1 }), /\.note is damaged: its checkpoint does not match the tree and size/u],
    [join(folder, 'w', 'last'), 'x', /last is damaged: it does not contain the name of a tree/u],
    [keys, `${kept}none\n`, /keys is damaged: line 2 is not a verifier key/u],
    [keys, '', /the folder has checkpoints but no keys: set the trusted keys with --key/u],
  ];
  for (const [file, content, detail] of cases) {
    writeFileSync(file, content);
    t.match(await settled(), { code: 2, out: '', err: detail });
    writeFileSync(path, note);
    writeFileSync(keys, kept);
    writeFileSync(join(folder, 'w', 'last'), last);
  }
  // An earlier one counts as well.
  await create(server, 'stool');
  t.match(await settled(), { code: 0, out: /extends the checkpoint of/u });
  writeFileSync(join(ofTree, `${String(checkpoint.size)}.note`), forged);
  t.match(await settled(), { code: 2, err: /the signature of its checkpoint is wrong/u });
});

test('signed checkpoints in a long export name the place of a change that was covered up', async (t) => {
  const { server, folder, key, run } = await given(t);
  const names = Array.from({ length: 1_100 }, (_none, at) => `w${String(at)}`);
  for (let at = 0; at < names.length; at += 50)
    await Promise.all(names.slice(at, at + 50).map(async (name) => create(server, name)));
  await run('export', '--output', 'all.jsonl');
  const path = join(folder, 'all.jsonl');
  const records = recordsOf(readFileSync(path));
  t.match(
    records.findIndex(({ kind }) => kind === 'Checkpoint'),
    1_025,
    'before leaf 1,024, behind the header',
  );
  t.match(await run('verify', 'all.jsonl', '--key', key), { code: 0, out: /^2 checkpoints and tree heads agree/mu });
  t.equal(secondVerifier(readFileSync(path), key), undefined);
  for (const [changed, place] of [
    [1_000, /leaves 0 to 1023 .*, between the beginning of the export and the signed checkpoint of 1024 leaves/u],
    [1_080, /leaves 1024 to \d+ .*, between the signed checkpoint of 1024 leaves and the signed checkpoint of/u],
  ] as const) {
    const sealed = records.map((record) =>
      record.kind === 'Event' && record.index === changed ? { ...record, type: 'ObjectDeleted' } : record,
    );
    writeFileSync(path, Buffer.concat(sealed.map(exportLine)));
    t.match(await run('verify', 'all.jsonl', '--key', key), { code: 1, err: place });
  }
});
