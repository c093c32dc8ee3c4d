/** One node at a time removes dependents of deleted owners; when it stops, another one takes over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test } from 'tap';
import type { Test } from 'tap';

import { leaseLookMs, leaseMs } from '../../src/limits/reconcilers.ts';
import { Following } from './support/following.ts';
import { leads, ranked } from './support/leading.ts';
import { startLogServer, commentServer, type LogServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';
import { widgetsPath } from './support/widget-model.ts';

t.setTimeout(240_000);
commentServer(t);

type Given = { readonly log: LogServer; readonly nodes: readonly [NodeProcess, NodeProcess]; readonly folder: string };

async function given(t: Test): Promise<Given> {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-leadership-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const log = await startLogServer(t);
  const start = async (name: string): Promise<NodeProcess> => {
    const node = await NodeProcess.start({ eventLog: log, folder, name });
    t.teardown(async () => node.kill());
    return node;
  };
  return { log, folder, nodes: [await start('first'), await start('second')] };
}

const ownerOf = (name: string): string => `${name}-owner`;

/** Each has its own owner: once that is deleted, only the leader removes the dependent. */
async function make(node: NodeProcess, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const owner = await create(node, { name: ownerOf(name) });
    const reference = {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Widget',
      name: ownerOf(name),
      uid: owner.metadata.uid,
    };
    await create(node, { name, ownerReferences: [reference] });
  }
}

type Created = { readonly metadata: { readonly uid: string } };

async function create(
  node: NodeProcess,
  metadata: { readonly name: string; readonly ownerReferences?: readonly object[] },
): Promise<Created> {
  const body = JSON.stringify({ metadata, spec: { title: metadata.name } });
  const { status, text } = await node.ask(widgetsPath, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (status !== 201) throw new Error(text);
  return JSON.parse(text) as Created;
}

/** Its owner is deleted there, and it is seen to be gone by a watch of the other node; @returns how long that took. */
async function removed(
  name: string,
  { at, seenAt, seconds = 10 }: { readonly at: NodeProcess; readonly seenAt: NodeProcess; readonly seconds?: number },
): Promise<number> {
  await deleteOwner(name, at);
  const began = performance.now();
  await untilDeleted(name, seenAt, seconds);
  return performance.now() - began;
}

async function deleteOwner(name: string, at: NodeProcess): Promise<void> {
  const { status, text } = await at.ask(`${widgetsPath}/${ownerOf(name)}`, { method: 'DELETE' });
  if (status !== 200) throw new Error(text);
}

async function untilDeleted(name: string, seenAt: NodeProcess, seconds: number): Promise<void> {
  const following = Following.start([seenAt], { path: widgetsPath, transport: 'json', at: 0, after: '1' });
  const deadline = performance.now() + seconds * 1_000;
  while (!following.changes.some((change) => change.type === 'DELETED' && change.name === name)) {
    if (performance.now() > deadline) throw new Error(`${name} is not gone within ${seconds.toString()} s`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
  await following.stop();
}

test('a dependent of an owner deleted on either node is removed once', async (t) => {
  const { nodes } = await given(t);
  const [leader, other] = await ranked(nodes);
  await make(leader, 'a', 'b');
  await make(other, 'c', 'd');
  const took: number[] = [];
  for (const [name, at, seenAt] of [
    ['a', leader, other],
    ['b', other, leader],
    ['c', leader, leader],
    ['d', other, other],
  ] as const)
    took.push(await removed(name, { at, seenAt }));
  t.comment(`from the owner's deletion to its being seen: ${took.map(Math.round).join(', ')} ms`);
  const { items } = JSON.parse((await other.ask(widgetsPath)).text) as { readonly items: readonly unknown[] };
  t.equal(items.length, 0);
  t.strictSame((await Promise.all(nodes.map(leads))).filter((does) => does).length, 1, 'one leads');
  for (const node of nodes) await node.stop();
});

test('when the leader stops cleanly the other takes over at once', async (t) => {
  const { nodes } = await given(t);
  const [leader, other] = await ranked(nodes);
  await make(other, 'kept');
  await leader.stop();
  // Sooner than any lease could run out.
  const took = await removed('kept', { at: other, seenAt: other, seconds: (leaseMs - leaseLookMs) / 1_000 });
  t.ok(took < leaseMs / 2, `after ${Math.round(took).toString()} ms`);
  await other.stop();
});

test('when the leader is killed the other takes over after its lease expires', async (t) => {
  const { nodes } = await given(t);
  const [leader, other] = await ranked(nodes);
  await make(other, 'kept', 'left-before');
  await leader.kill();
  const began = performance.now();
  // Writes go on meanwhile.
  await deleteOwner('left-before', other);
  await untilDeleted('left-before', other, (leaseMs * 2) / 1_000 + 10);
  t.comment(
    `taken over after ${Math.round(performance.now() - began).toString()} ms, with a lease of ${leaseMs.toString()} ms`,
  );
  t.ok(await leads(other));
  t.ok((await removed('kept', { at: other, seenAt: other })) < leaseMs / 2, 'and goes on');
  const back = await leader.again();
  t.teardown(async () => back.kill());
  await back.ready();
  t.notOk(await leads(back), 'a returning node stays a follower');
  for (const node of [other, back]) await node.stop();
});

test('during an outage of the log leadership ends within a lease, and afterwards one node leads', async (t) => {
  const { log, nodes } = await given(t);
  const [leader, other] = await ranked(nodes);
  await make(other, 'kept');
  await log.kill();
  const began = performance.now();
  while (await leads(leader))
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  const led = performance.now() - began;
  t.ok(led <= leaseMs + 2_000, `it led for ${Math.round(led).toString()} ms more`);
  t.notOk(await leads(other));
  await log.restart();
  for (const node of nodes) await node.until('/readyz', ({ status }) => status === 200);
  await removed('kept', { at: other, seenAt: leader, seconds: (leaseMs * 2) / 1_000 + 10 });
  await ranked(nodes);
  for (const node of nodes) await node.stop();
});
