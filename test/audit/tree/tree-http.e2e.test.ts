/** The tree as an auditor reads it over HTTP: everything is verified from what the server answers. */
import { cpSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { parseCheckpoint } from '../../../src/audit/proof/checkpoint.ts';
import { CompactRange } from '../../../src/audit/proof/compact-range.ts';
import { leafHash } from '../../../src/audit/proof/merkle.ts';
import { isConsistent, isIncluded } from '../../../src/audit/proof/proofs.ts';
import { parseNote, parseVerifierKey, verifyNote } from '../../../src/audit/proof/signed-note.ts';
import { must } from '../../../src/base/unreachable.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { runCommand } from '../../support/server/command-run.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';

const tree = '/audit/tree';
const widgets = '/apis/example.com/v1alpha1/widgets';

async function given(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  return server;
}

async function create(server: TestServer, name: string): Promise<string> {
  const body = { metadata: { name }, spec: { title: name } };
  const answer = await server.call(widgets, { method: 'POST', body });
  const { metadata } = (await answer.json()) as { readonly metadata: { readonly resourceVersion: string } };
  return metadata.resourceVersion;
}

type Signed = { readonly origin: string; readonly size: number; readonly root: Uint8Array };

/** Asks again while the node is not ready to sign. */
async function untilServed(server: TestServer, path: string): Promise<Response> {
  for (;;) {
    const answer = await server.call(path);
    if (answer.status !== 503) return answer;
    if (!answer.headers.has('retry-after')) throw new Error('a refusal for now says when to come again');
    await answer.text();
  }
}

/** A checkpoint with a signature by a key that the server lists. */
async function checkpoint(server: TestServer): Promise<Signed> {
  const note = must(parseNote(await (await untilServed(server, `${tree}/checkpoint`)).text()), 'it is a note');
  const { items } = (await (await server.call(`${tree}/keys`)).json()) as {
    readonly items: readonly { readonly verifierKey: string }[];
  };
  const keys = items.map(({ verifierKey }) => must(parseVerifierKey(verifierKey), 'it is a key'));
  if (verifyNote(note, keys) !== 'signed') throw new Error('no listed key has signed it');
  return must(parseCheckpoint(note.text), 'it is a checkpoint');
}

async function bytesOf(server: TestServer, path: string): Promise<Buffer> {
  const answer = await server.call(`${tree}/tile/${path}`);
  if (answer.status !== 200) throw new Error(`${path}: ${String(answer.status)}`);
  return Buffer.from(await answer.arrayBuffer());
}

function tileName(number: number, width: number): string {
  const name = String(number).padStart(3, '0');
  return width === 256 ? name : `${name}.p/${String(width)}`;
}

async function entriesOf(server: TestServer, size: number): Promise<readonly Buffer[]> {
  const entries: Buffer[] = [];
  for (let tile = 0; tile * 256 < size; tile += 1) {
    const bundle = await bytesOf(server, `entries/${tileName(tile, Math.min(256, size - tile * 256))}`);
    for (let at = 0; at < bundle.length;) {
      const end = at + 2 + bundle.readUInt16BE(at);
      entries.push(bundle.subarray(at + 2, end));
      at = end;
    }
  }
  return entries;
}

type Proof = {
  readonly size: number;
  readonly root: string;
  readonly index: number;
  readonly entry: string;
  readonly hashes: readonly string[];
};

const hash = (text: string): Buffer => Buffer.from(text, 'base64');

test('entries, tiles, proofs and signed checkpoints agree, over hundreds of events', async (t) => {
  const server = await given(t);
  const first = await checkpoint(server);
  for (let place = 0; place < 300; place += 1) await create(server, `w${String(place)}`);
  const last = await create(server, 'last');
  const now = await checkpoint(server);
  t.ok(now.size > first.size + 300);

  const entries = await entriesOf(server, now.size);
  const range = new CompactRange();
  for (const entry of entries) range.append(leafHash(entry));
  t.equal(range.until, now.size);
  t.strictSame(Buffer.from(range.root()), Buffer.from(now.root), 'the entries have the signed root');
  const leaves = Buffer.concat(entries.map(leafHash));
  t.strictSame(await bytesOf(server, '0/000'), leaves.subarray(0, 256 * 32));
  t.strictSame(await bytesOf(server, '0/001.p/5'), leaves.subarray(256 * 32, 261 * 32));
  const full = new CompactRange();
  for (const entry of entries.slice(0, 256)) full.append(leafHash(entry));
  t.strictSame(await bytesOf(server, '1/000.p/1'), Buffer.from(full.root()));

  const grown = (await (
    await server.call(`${tree}/consistency?from=${String(first.size)}&to=${String(now.size)}`)
  ).json()) as { readonly hashes: readonly string[] };
  const proof = grown.hashes.map(hash);
  t.ok(isConsistent({ oldSize: first.size, oldRoot: first.root, size: now.size, root: now.root, proof }));

  const index = now.size - 1;
  const history = (await (await server.call(`${widgets}/last/history`)).json()) as {
    readonly items: readonly { readonly id: string; readonly position: string }[];
  };
  const { id, position } = history.items[0]!;
  t.equal(position, last);
  for (const query of [`id=${id}&position=${position}`, 'index=7']) {
    const found = (await (await server.call(`${tree}/inclusion?${query}&size=${String(now.size)}`)).json()) as Proof;
    const leaf = leafHash(Buffer.from(found.entry));
    t.ok(
      isIncluded({ leaf, index: found.index, size: now.size, proof: found.hashes.map(hash), root: now.root }),
      query,
    );
    if (query.startsWith('id=')) t.match(JSON.parse(found.entry), [1, 'object:widgets.example.com/last', 0, id]);
  }
  t.ok(index > 300);
});

test('what is not in the tree, or cannot be meant, is refused', async (t) => {
  const server = await given(t);
  const { size } = await checkpoint(server);
  const position = await create(server, 'w');
  const all = size + 50;
  const cases: readonly (readonly [path: string, status: number, message: RegExp])[] = [
    [`inclusion?index=0&size=${String(all)}`, 400, /size: must be a whole number of leaves, at most \d+/u],
    [`inclusion?index=${String(all)}`, 400, /index: must be below the size/u],
    ['inclusion?index=5&size=5', 400, /index: must be below the size, 5/u],
    ['inclusion?index=-1', 400, /index: must be below/u],
    ['inclusion?index=1e3', 400, /index: must be below/u],
    ['inclusion', 400, /either index, or position and id, must be given/u],
    ['inclusion?index=1&id=x', 400, /either index, or position and id, must be given/u],
    ['inclusion?id=x', 400, /position and id: /u],
    ['inclusion?id=x&position=abc', 400, /position and id: /u],
    [`inclusion?id=x&position=${position}`, 404, /the tree has no event "x" at this position/u],
    [`inclusion?id=x&position=${String(BigInt(position) + 900n)}`, 404, /has no event/u],
    [`inclusion?id=x&position=${String(10n ** 19n + 4n)}`, 410, /belongs to another epoch/u],
    [`inclusion?id=x&position=${'9'.repeat(30)}`, 410, /belongs to another epoch/u],
    [`consistency?from=5&to=4`, 400, /from is 5 and to is 4: from must not be larger than to/u],
    [`consistency?to=4`, 400, /from: the size of the older tree is required/u],
    [`consistency?from=1&to=${String(all)}`, 400, /to: must be a whole number/u],
    [`consistency?from=x`, 400, /from: must be a whole number/u],
    ['tile/0/000', 404, /does not contain this tile/u],
    [`tile/0/000.p/255`, 404, /does not contain this tile/u],
    ['tile/7/000.p/1', 404, /does not contain this tile/u],
    ['tile/0/x999/x999/999', 404, /does not contain this tile/u],
    ['tile/0/000.p/256', 400, /the path of a tile is/u],
    ['tile/0/000.p/0', 400, /the path of a tile is/u],
    ['tile/64/000', 400, /the path of a tile is/u],
    ['tile/01/000', 400, /the path of a tile is/u],
    ['tile/0/0', 400, /the path of a tile is/u],
    ['tile/0/x000/001', 400, /the path of a tile is/u],
    ['tile/0/x001', 400, /the path of a tile is/u],
    ['tile/data/000', 400, /the path of a tile is/u],
    ['tile/0', 404, /could not find/u],
    ['nothing', 404, /could not find/u],
  ];
  for (const [path, status, message] of cases) {
    const answer = await server.call(`${tree}/${path}`);
    t.match({ status: answer.status, body: await answer.json() }, { status, body: { detail: message } }, path);
  }
  t.equal((await server.call(`${tree}/checkpoint`, { method: 'POST', body: {} })).status, 405);
});

test('auditors read the tree, and others do not', async (t) => {
  const server = await given(t);
  await checkpoint(server);
  const administration = new Administration(server.url);
  for (const user of ['nobody', 'auditor']) await administration.user(user);
  await administration.bind('auditors', 'role-template-audit-viewer', 'auditor');
  for (const path of ['checkpoint', 'keys', 'inclusion?index=0', 'consistency?from=1', 'tile/0/000.p/1']) {
    const statuses = [];
    for (const user of ['auditor', 'nobody'])
      statuses.push((await server.call(`${tree}/${path}`, { headers: as(user) })).status);
    t.strictSame(statuses, [200, 403], path);
  }
});

test('a key is made once, is private, and signs across restarts and rebuilt tables', async (t) => {
  const server = await given(t);
  const before = await checkpoint(server);
  const key = join(server.dataDir, 'keys', 'node.key');
  t.equal(statSync(key).mode & 0o777, 0o600);
  const text = readFileSync(key, 'utf8');
  const again = await server.restart();
  t.teardown(async () => again.remove());
  const after = await checkpoint(again);
  t.equal(readFileSync(key, 'utf8'), text);
  t.equal(after.origin, before.origin);
  t.ok(after.size >= before.size);
});

test('a copied log goes on with the tree, on a machine with a key of its own', async (t) => {
  const one = await given(t);
  await create(one, 'w');
  const before = await checkpoint(one);
  await one.close();
  const dataDir = join(t.testdir(), 'two');
  const copied = await runCommand(['log', 'copy', '--from', `embedded:${one.dataDir}`, '--to', `embedded:${dataDir}`]);
  t.equal(copied.code, 0, copied.err);
  const two = await startTestServer({ dataDir });
  t.teardown(async () => two.close());
  const after = await checkpoint(two);
  t.equal(after.origin, before.origin);
  t.ok(after.size > before.size);
  const path = `${tree}/consistency?from=${String(before.size)}&to=${String(after.size)}`;
  const proof = (await (await two.call(path)).json()) as { readonly fromRoot: string };
  t.equal(proof.fromRoot, Buffer.from(before.root).toString('base64'));
  const { items } = (await (await two.call(`${tree}/keys`)).json()) as { readonly items: readonly unknown[] };
  t.equal(items.length, 2, 'the key of the source and the one of this node');
});

test('a node does not sign a log that was rolled back, and signs a new tree in a new epoch', async (t) => {
  const server = await given(t);
  const kept = join(t.testdir(), 'log');
  await server.close();
  cpSync(join(server.dataDir, 'log'), kept, { recursive: true });
  const grown = await startTestServer({ dataDir: server.dataDir });
  await create(grown, 'lost');
  const signed = await checkpoint(grown);
  await grown.close();
  const rollBack = (): void => {
    for (const folder of ['log', 'read-models', 'audit-models'])
      rmSync(join(server.dataDir, folder), { recursive: true });
    cpSync(kept, join(server.dataDir, 'log'), { recursive: true });
  };
  rollBack();
  const lines: string[] = [];
  const logLines = { write: (line: string) => lines.push(line) };
  const rolledBack = await startTestServer({ dataDir: server.dataDir, logLines });
  for (let index = 0; index < 9; index += 1) await create(rolledBack, `other${String(index)}`);
  let refused = '';
  while (!refused.includes('cannot sign a checkpoint of the Merkle tree')) {
    const answer = await rolledBack.call(`${tree}/checkpoint`);
    t.equal(answer.status, 503);
    refused = await answer.text();
  }
  t.match(refused, new RegExp(`this node has signed ${String(signed.size)} leaves with the root`, 'u'));
  t.ok(lines.some((line) => line.includes('cannot sign a checkpoint of the Merkle tree')));
  await rolledBack.close();

  rollBack();
  const command = await runCommand(['log', 'new-epoch', '--log', `embedded:${server.dataDir}`]);
  t.equal(command.code, 0, command.err);
  const restored = await startTestServer({ dataDir: server.dataDir });
  t.teardown(async () => restored.close());
  const after = await checkpoint(restored);
  t.not(after.origin, signed.origin);
  t.ok(after.size > 0);
});
