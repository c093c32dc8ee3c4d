/** The tree of a log that several nodes share: equal roots, keys that vouch for keys, and a node that stops. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { parseCheckpoint, type Checkpoint } from '../../src/audit/proof/checkpoint.ts';
import { isConsistent } from '../../src/audit/proof/proofs.ts';
import { parseNote, parseVerifierKey, verifyNote } from '../../src/audit/proof/signed-note.ts';
import { must } from '../../src/base/unreachable.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { streamName } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { withLog } from '../support/memory/event-log.ts';
import { commentServer, startLogServer, type LogServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';

t.setTimeout(120_000);
commentServer(t);

const tree = '/audit/tree';
const users = '/api/v1alpha1/users';
const metadata: EventMetadata = {
  actor: 'system:tree',
  verb: 'create',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

async function given(t: Test): Promise<{ readonly log: LogServer; readonly nodes: readonly NodeProcess[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-tree-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const log = await startLogServer(t);
  const nodes: NodeProcess[] = [];
  for (const name of ['first', 'second']) {
    const node = await NodeProcess.start({ eventLog: log, folder, name, env: { ACCESS_EVENTS: 'off' } });
    t.teardown(async () => node.kill());
    nodes.push(node);
  }
  return { log, nodes };
}

type Key = { readonly key: string; readonly signedBy: string; readonly verifierKey: string };
type Keys = { readonly items: readonly Key[] };

async function keysOf(node: NodeProcess, count: number): Promise<Keys> {
  const { text } = await node.until(
    `${tree}/keys`,
    (answered) => answered.status === 200 && (JSON.parse(answered.text) as Keys).items.length >= count,
  );
  return JSON.parse(text) as Keys;
}

/** The node's checkpoint, and the key in the list that has signed it. */
async function checkpointOf(node: NodeProcess, { items }: Keys): Promise<Checkpoint & { readonly by: string }> {
  const { text } = await node.until(`${tree}/checkpoint`, ({ status }) => status === 200);
  const note = must(parseNote(text), 'it is a note');
  const by = items.find(
    ({ verifierKey }) => verifyNote(note, [must(parseVerifierKey(verifierKey), 'it is a key')]) === 'signed',
  );
  return { ...must(parseCheckpoint(note.text), 'it is a checkpoint'), by: must(by, 'a listed key has signed').key };
}

test('nodes of one log have one tree', async (t) => {
  const { log, nodes } = await given(t);
  const [first, second] = nodes as [NodeProcess, NodeProcess];
  const keys = await keysOf(first, 2);

  await t.test('each node has a key, and the later one is signed by the earlier one', async (t) => {
    const [one, two] = keys.items;
    t.equal(one?.signedBy, one?.key, 'the first key of the log');
    t.equal(two?.signedBy, one?.key);
    t.strictSame(await keysOf(second, 2), keys);
  });

  await t.test('they sign the same tree, one perhaps a later one', async (t) => {
    for (const name of ['jane', 'joe', 'jim']) {
      const made = await second.ask(users, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ metadata: { name }, spec: {} }),
      });
      t.equal(made.status, 201, made.text);
      await first.until(`${users}/${name}`, ({ status }) => status === 200);
    }
    const [ours, theirs] = [await checkpointOf(first, keys), await checkpointOf(second, keys)];
    t.equal(ours.origin, theirs.origin);
    t.not(ours.by, theirs.by);
    const [older, newer] = ours.size <= theirs.size ? [ours, theirs] : [theirs, ours];
    const asked = await first.until(
      `${tree}/consistency?from=${String(older.size)}&to=${String(newer.size)}`,
      ({ status }) => status === 200,
    );
    const { hashes } = JSON.parse(asked.text) as { readonly hashes: readonly string[] };
    const proof = hashes.map((hash) => Buffer.from(hash, 'base64'));
    const [oldSize, oldRoot] = [older.size, older.root];
    t.ok(isConsistent({ oldSize, oldRoot, size: newer.size, root: newer.root, proof }));
  });

  await t.test('where the log states another root all of them stop, and do not start again', async (t) => {
    const { size } = await checkpointOf(first, keys);
    const root = Buffer.alloc(32, 1).toString('base64');
    const head = encodeEvent(idOf('another root'), { type: 'TreeHead', size, root, checkpoint: '' }, metadata);
    await withLog(log, async (writer) => {
      const last = await writer.readLast(streamName('platform:tree'));
      t.match(await writer.append(streamName('platform:tree'), [head], last?.revision ?? 'absent'), { ok: true });
    });
    for (const node of nodes) {
      t.equal(await node.exited, 1, node.name);
      t.match(
        node.stderr(),
        new RegExp(`the TreeHead at position \\d+ states the root \\S+ of the first ${String(size)} leaves`, 'u'),
      );
      t.match(
        node.stderr(),
        /audit-models: this node rebuilds this folder from the log; if the node stops again, the log was/u,
      );
    }
    const again = await first.again();
    t.equal(await again.exited, 1, 'it is the log that differs, not the tables');
  });
});
