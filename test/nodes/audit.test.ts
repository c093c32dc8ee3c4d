/**
 * The audit of a log that two nodes share, one of which is killed on the way: each answer is the same on both, and the
 * export, a replay and a copy have the same tree.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { parseCheckpoint, type Checkpoint } from '../../src/audit/proof/checkpoint.ts';
import { isConsistent, isIncluded } from '../../src/audit/proof/proofs.ts';
import { leafHash } from '../../src/audit/proof/merkle.ts';
import { parseNote } from '../../src/audit/proof/signed-note.ts';
import { must } from '../../src/base/unreachable.ts';
import type { Answered } from '../support/ask.ts';
import { logSettings } from '../support/memory/event-log.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { runCommand, type CommandRun } from '../support/server/command-run.ts';
import { adminAuthorization, testPassword } from '../support/server/start-server.ts';
import { Watching } from '../support/watching.ts';
import { commentServer, startLogServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';

t.setTimeout(280_000);
commentServer(t);

const widgets = '/apis/example.com/v1alpha1/widgets';
const lamp = `${widgets}/lamp`;
const events = '/apis/audit.svc.run/v1alpha1/events';
const tree = '/audit/tree';

type Shown = { readonly metadata: { readonly resourceVersion: string } };
type Item = {
  readonly id: string;
  readonly position: string;
  readonly name: string;
  readonly event: string;
  readonly time: string;
};
type Page = { readonly metadata: { readonly continue?: string }; readonly items: readonly Item[] };

/** An answer of status 200, asked again while the node is behind or the log is away. */
async function read(node: NodeProcess, path: string): Promise<string> {
  const answered = await node.until(path, ({ status }) => status !== 503);
  if (answered.status !== 200) throw new Error(`${path}: ${String(answered.status)} ${answered.text}`);
  return answered.text;
}

async function write(node: NodeProcess, method: string, path: string, body?: unknown): Promise<Shown> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const sent = {
    method,
    headers: { 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const isDone = ({ status }: Answered): boolean => status !== 503;
  const answered = await node.until(path, isDone, { asked: sent });
  if (answered.status >= 300) throw new Error(`${method} ${path}: ${String(answered.status)} ${answered.text}`);
  return JSON.parse(answered.text) as Shown;
}

/** All pages of a list of entries. */
async function pages(node: NodeProcess, path: string, query: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let token: string | undefined = ''; token !== undefined;) {
    const page = JSON.parse(
      await read(node, `${path}?${query}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`),
    ) as Page;
    items.push(...page.items);
    token = page.metadata.continue;
  }
  return items;
}

async function checkpointOf(node: NodeProcess): Promise<Checkpoint> {
  const note = must(parseNote(await read(node, `${tree}/checkpoint`)), 'it is a note');
  return must(parseCheckpoint(note.text), 'it is a checkpoint');
}

function where(selector: string): string {
  return `fieldSelector=${encodeURIComponent(selector)}`;
}

function bytesOf(hashes: readonly string[]): readonly Buffer[] {
  return hashes.map((hash) => Buffer.from(hash, 'base64'));
}

async function isExtended(node: NodeProcess, older: Checkpoint, newer: Checkpoint): Promise<boolean> {
  const sizes = `from=${String(older.size)}&to=${String(newer.size)}`;
  const { hashes } = JSON.parse(await read(node, `${tree}/consistency?${sizes}`)) as { readonly hashes: string[] };
  const [oldSize, oldRoot] = [older.size, older.root];
  return isConsistent({ oldSize, oldRoot, size: newer.size, root: newer.root, proof: bytesOf(hashes) });
}

test('an auditor gets the same answers from each node, and the copied log has the same tree', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-audit-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const log = await startLogServer(t);
  const start = async (name: string): Promise<NodeProcess> => {
    const node = await NodeProcess.start({ eventLog: log, folder, name, env: { ACCESS_EVENTS: 'off' } });
    t.teardown(async () => node.kill());
    return node;
  };
  const first = await start('first');
  let second = await start('second');
  const both = (): readonly NodeProcess[] => [first, second];
  const same = async (t: Test, path: string): Promise<string> => {
    const [one, other] = await Promise.all(both().map(async (node) => read(node, path)));
    t.equal(one, other, path);
    return one ?? '';
  };

  const states: { readonly position: string; readonly text: string }[] = [];
  const keep = async ({ metadata: { resourceVersion: position } }: Shown): Promise<void> => {
    states.push({ position, text: await read(first, `${lamp}?resourceVersion=${position}`) });
  };
  const made = (name: string, title: string) => ({ metadata: { name, labels: { title } }, spec: { title, size: 1 } });

  await t.test('writes through both nodes, one of which is killed, and a log that is away for a moment', async () => {
    await keep(await write(first, 'POST', widgets, made('lamp', 'one')));
    for (let place = 0; place < 10; place += 1) {
      await write(second, 'POST', widgets, made(`beside-${String(place)}`, 'one'));
      await keep(await write(first, 'PATCH', lamp, { spec: { title: `${String(place)} of ten` } }));
    }
    const lost = write(second, 'PATCH', `${widgets}/beside-1`, { spec: { title: 'perhaps' } }).catch(() => undefined);
    await second.kill();
    await lost;
    await write(first, 'DELETE', lamp);
    await log.kill();
    await log.restart();
    await keep(await write(first, 'POST', widgets, made('lamp', 'again')));
    second = await second.again();
    t.teardown(async () => second.kill());
    await second.ready();
    await keep(await write(second, 'PATCH', lamp, { metadata: { labels: { title: 'two' } } }));
  });

  await t.test('histories, both ways', async (t) => {
    for (const node of both()) {
      const oldest = await pages(node, `${lamp}/history`, 'limit=4&sort=position');
      const newest = await pages(node, `${lamp}/history`, 'limit=5&sort=position,desc');
      t.strictSame(
        newest.map(({ id }) => id).toReversed(),
        oldest.map(({ id }) => id),
        node.name,
      );
      t.equal(oldest.length, 15, node.name);
    }
    await same(t, `${lamp}/history?limit=500&sort=position,desc`);
    await same(t, `${lamp}/history?limit=500&sort=position&include=object`);
  });

  await t.test('objects and lists as they were, by position and time', async (t) => {
    for (const { position, text } of states) t.equal(await same(t, `${lamp}?at=${position}`), text, position);
    const history = await pages(first, `${lamp}/history`, 'limit=500&sort=position');
    for (const { time } of history.filter(({ event }) => event === 'ObjectUpdated'))
      await same(t, `${lamp}?at=${time}`);
    const [one] = states;
    const listed = await same(
      t,
      `${widgets}?at=${String(states[4]?.position)}&labelSelector=title=one&sort=metadata.name,desc`,
    );
    const { items } = JSON.parse(listed) as { readonly items: readonly { readonly metadata: { name: string } }[] };
    t.strictSame(items.map(({ metadata }) => metadata.name).sort(), [
      'beside-0',
      'beside-1',
      'beside-2',
      'beside-3',
      'lamp',
    ]);
    await same(t, `${widgets}?at=${String(one?.position)}&size=1`);
    await same(t, `${widgets}?at=${String(states.at(-1)?.position)}&${where('spec.title=one')}&limit=3`);
    const time = must(history.at(-1), 'it has a history').time;
    await same(t, `${widgets}?at=${time}&limit=2`);
  });

  await t.test('an earlier state becomes the present one', async (t) => {
    const [one] = states;
    const restored = await write(second, 'POST', `${lamp}/restore?at=${String(one?.position)}`);
    t.match(restored, { spec: { title: 'one' }, metadata: { labels: { title: 'one' } } });
    await keep(restored);
    await same(t, `${lamp}?at=${restored.metadata.resourceVersion}`);
  });

  await t.test('events: filters, pages, and a watch that shows what the list shows', async (t) => {
    await same(t, `${events}?limit=500&${where(`position<=${String(states.at(-1)?.position)}`)}`);
    for (const selector of [
      'type=widgets.example.com',
      'name=lamp',
      'actor=admin',
      'verb=delete',
      'type in (claim,guard)',
    ]) {
      const [one, other] = await Promise.all(
        both().map(async (node) => pages(node, events, `limit=7&sort=position&${where(selector)}`)),
      );
      t.strictSame(one, other, selector);
      t.equal(new Set(one?.map(({ id }) => id)).size, one?.length, `${selector}: each once`);
      const newest = await pages(second, events, `limit=6&sort=position,desc&${where(selector)}`);
      t.strictSame(newest.toReversed(), one, `${selector}: newest first`);
    }
    const wanted = await pages(first, events, `limit=500&sort=position&${where('type=widgets.example.com')}`);
    for (const node of both()) {
      const target = `${events}?watch=true&${where('type=widgets.example.com')}`;
      const headers = { authorization: adminAuthorization };
      const watching = await Watching.open(node.url, target, { transport: 'json', headers });
      const ids = (): readonly unknown[] => watching.events.map(({ object }) => (object as unknown as Item).id);
      await watching.until(() => ids().length >= wanted.length);
      t.strictSame(
        ids(),
        wanted.map(({ id }) => id),
        node.name,
      );
      watching.leave();
    }
  });

  let signed: Checkpoint | undefined;
  await t.test('checkpoints, proofs of inclusion and of consistency', async (t) => {
    await first.until(`${tree}/keys`, ({ text }) => text.split('"verifierKey"').length > 2);
    const earlier = await checkpointOf(second);
    await write(first, 'POST', widgets, made('later', 'one'));
    let [one, other] = [await checkpointOf(first), await checkpointOf(second)];
    while (one.size !== other.size) [one, other] = [await checkpointOf(first), await checkpointOf(second)];
    t.strictSame([one.origin, Buffer.from(one.root)], [other.origin, Buffer.from(other.root)]);
    t.ok(await isExtended(first, earlier, one));
    for (const { position, id } of await pages(first, events, `limit=500&${where('name=lamp')}`)) {
      const text = await read(second, `${tree}/inclusion?position=${position}&id=${id}&size=${String(one.size)}`);
      const proof = JSON.parse(text) as { readonly index: number; readonly entry: string; readonly hashes: string[] };
      const leaf = leafHash(Buffer.from(proof.entry));
      t.ok(isIncluded({ leaf, index: proof.index, size: one.size, root: one.root, proof: bytesOf(proof.hashes) }));
    }
    signed = one;
  });

  await t.test('an export verifies, and a replay finds no difference', async (t) => {
    const { items } = JSON.parse(await read(second, `${tree}/keys`)) as { readonly items: { verifierKey: string }[] };
    const keys = items.flatMap(({ verifierKey }) => ['--key', verifierKey]);
    const audit = async (args: readonly string[]): Promise<CommandRun> =>
      runCommand(['audit', ...args], { folder, variables: { LEDGERPLANE_PASSWORD: testPassword } });
    for (const node of both()) {
      const file = `${node.name}.jsonl`;
      const exported = await audit(['export', '--server', node.url, '--user', 'admin', '--output', file]);
      t.match(exported, { code: 0 }, exported.err);
      const verified = await audit(['verify', file, ...keys]);
      t.match(verified, { code: 0, out: /^verified: \d+ events, leaves 0 to/u }, verified.err);
      const replayed = await audit(['replay', '--server', node.url, '--user', 'admin']);
      t.match(replayed, { code: 0, out: /no difference/u }, replayed.err);
    }
  });

  await t.test('a copy into an embedded log has the same tree', async (t) => {
    const before = must(signed, 'it was signed');
    for (const node of both()) await node.stop();
    const env = { EVENTSTORE_PREFIX: logSettings(log).EVENTSTORE_PREFIX };
    const command = runCommandLine(['log', 'copy', '--from', log.url, '--to', 'embedded:copied'], { cwd: folder, env });
    t.equal(await command.exited(), 0, command.stderr());
    const alone = { EVENT_LOG: 'embedded:', ACCESS_EVENTS: 'off' };
    const copied = await NodeProcess.start({ eventLog: log, folder, name: 'copied', env: alone });
    t.teardown(async () => copied.kill());
    const after = await checkpointOf(copied);
    t.equal(after.origin, before.origin);
    t.ok(after.size > before.size);
    t.ok(await isExtended(copied, before, after), 'the copy begins with the tree that was signed over its source');
  });
});
