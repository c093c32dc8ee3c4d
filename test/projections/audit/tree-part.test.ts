/** The tree that is folded in batches, against one that is computed from all leaves at once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { open } from 'lmdb';
import { test, type Test } from 'tap';

import { AuditModels, auditedCategories } from '../../../projections/audit/audit-models.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { TreePart } from '../../../projections/audit/tree/tree-part.ts';
import { rowEntries, rowHeight, rowPlace, TreeRows } from '../../../projections/audit/tree/tree-rows.ts';
import { catchUp } from '../../../projections/runner.ts';
import { isConsistent, isIncluded, consistencyProof, inclusionProof } from '../../../src/audit/proof/proofs.ts';
import { isLeafStream, leafOf } from '../../../src/audit/proof/leaf-entry.ts';
import { nodeHash, sha256, type Hash } from '../../../src/audit/proof/merkle.ts';
import { eventSchema, type DomainEvent, type EventMetadata } from '../../../src/command/event.ts';
import { encodeEvent } from '../../../src/log/event-codec.ts';
import { epochShift, logPosition, streamName, streamRevision, type RecordedEvent } from '../../../src/log/log.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { idOf } from '../../support/id-of.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'create',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

type Opened = { readonly tree: TreePart; readonly models: AuditModels; readonly tables: AuditTables };

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'ledgerplane-tree-'));
}

function opened(dir: string, epoch = 0): Opened {
  const tree = new TreePart(() => epoch);
  const tables = new AuditTables(dir, [tree]);
  const identity = () => ({ logId: 'the log', epoch });
  return { tree, tables, models: new AuditModels({ tables, parts: [tree], identity, clock: new FakeClock() }) };
}

function given(t: Test, epoch = 0): Opened {
  const dir = folder();
  const all = opened(dir, epoch);
  t.teardown(async () => {
    await all.tables.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return all;
}

/** Events of drawn streams, at sparse positions, as EventStoreDB has them. */
function eventsOf(streams: readonly string[], epoch = 0): readonly RecordedEvent[] {
  const next = new Map<string, number>();
  return streams.map((stream, index) => {
    const revision = next.get(stream) ?? 0;
    next.set(stream, revision + 1);
    return {
      id: idOf(`${stream}/${String(revision)}`),
      type: 'Written',
      stream: streamName(stream),
      revision: streamRevision(revision),
      position: logPosition(epochShift(epoch) + BigInt(index) * 7n + 3n),
      data: Buffer.from(`{"place":${String(index)}}`),
      metadata: Buffer.from('{"actor":"test"}'),
      endsAppend: true,
    };
  });
}

/** RFC 9162, 2.1.1, word for word. */
function naiveRoot(leaves: readonly Hash[]): Hash {
  if (leaves.length === 0) return sha256(Buffer.alloc(0));
  if (leaves.length === 1) return leaves[0]!;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return nodeHash(naiveRoot(leaves.slice(0, split)), naiveRoot(leaves.slice(split)));
}

const streams = fc.constantFrom('object:widgets.example.com/a', 'claim:x', 'access:n', 'platform:level', 'secret:u');

test('roots, proofs and positions of any size are those of a naive tree, in batches of any length', async (t) => {
  const run = async (drawn: readonly string[], cuts: readonly number[], sizes: readonly number[]): Promise<void> => {
    const dir = folder();
    const { tree, models, tables } = opened(dir);
    const events = eventsOf(drawn);
    for (let at = 0, cut = 0; at < events.length; cut += 1) {
      const length = cuts[cut % cuts.length]!;
      models.apply(events.slice(at, at + length));
      at += length;
    }
    const leaves = events.filter(({ stream }) => isLeafStream(stream));
    const hashes = leaves.map(leafOf);
    t.equal(tree.size(), leaves.length);
    const small = sizes.map((size) => size % (leaves.length + 1)).sort((left, right) => left - right);
    for (const [place, size] of [...small, leaves.length].entries()) {
      const root = naiveRoot(hashes.slice(0, size));
      t.strictSame(Buffer.from(tree.root(size)), Buffer.from(root), `the root of ${String(size)}`);
      const index = (place * 31) % Math.max(size, 1);
      if (size > 0) {
        const proof = inclusionProof(index, size, tree.nodeHash);
        t.ok(isIncluded({ leaf: hashes[index]!, index, size, proof, root }), `leaf ${String(index)}`);
        t.equal(tree.positionOf(index), leaves[index]!.position);
        t.equal(tree.indexOf(leaves[index]!.position), index);
        t.equal(tree.indexOf(logPosition(leaves[index]!.position + 1n)), undefined);
      }
      const oldSize = small[0]!;
      const oldRoot = naiveRoot(hashes.slice(0, oldSize));
      const proof = consistencyProof(oldSize, size, tree.nodeHash);
      t.ok(isConsistent({ oldSize, oldRoot, size, root, proof }), `${String(oldSize)} begins ${String(size)}`);
    }
    await tables.close();
    const again = opened(dir);
    t.strictSame(Buffer.from(again.tree.root(leaves.length)), Buffer.from(naiveRoot(hashes)), 'after a restart');
    await again.tables.close();
    rmSync(dir, { recursive: true, force: true });
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(streams, { minLength: 1, maxLength: 700 }),
      fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 20 }),
      fc.array(fc.nat(1_000), { minLength: 1, maxLength: 5 }),
      run,
    ),
    { numRuns: 25 },
  );
});

test('a tree of three tile levels has the nodes of the naive one', (t) => {
  const { tree, models } = given(t);
  const events = eventsOf(Array.from({ length: 66_000 }, (_none, index) => `object:widgets/${String(index)}`));
  for (let at = 0; at < events.length; at += 64) models.apply(events.slice(at, at + 64));
  const hashes = events.map(leafOf);
  for (const size of [1, 255, 256, 257, 65_535, 65_536, 65_537, 66_000])
    t.strictSame(Buffer.from(tree.root(size)), Buffer.from(naiveRoot(hashes.slice(0, size))), String(size));
  t.equal(tree.hashes(2, 0, 256).length, 32, 'one tile of level 1 is full');
  t.strictSame(Buffer.from(tree.hashes(1, 0, 1)), Buffer.from(naiveRoot(hashes.slice(0, 256))));
  t.strictSame(Buffer.from(tree.hashes(2, 0, 1)), Buffer.from(naiveRoot(hashes.slice(0, 65_536))));
  t.equal(tree.hashes(0, 65_990, 256).length, 10 * 32, 'what does not exist yet is left out');
  t.end();
});

test('the rows of all levels of the largest tree have keys of their own', async (t) => {
  const dir = folder();
  const root = open({ path: join(dir, 'rows.mdb') });
  t.teardown(async () => {
    await root.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const table = root.openDB<Buffer, number>({ name: 'rows', encoding: 'binary', keyEncoding: 'uint32' });
  const rows = new TreeRows(table);
  const leaves = 2 ** 33;
  const places: (readonly [level: number, row: number])[] = [];
  for (let level = 0; 2 ** level <= leaves; level += rowHeight) {
    const last = leaves / 2 ** level - 1;
    const first = last - (last % rowEntries);
    for (let index = first; index <= last; index += 1)
      rows.append(level, index, sha256(`${String(level)}/${String(index)}`), 7);
    places.push([level, first / rowEntries]);
  }
  rows.flush();
  for (const [level, row] of places)
    t.same(rows.hashes(level, row * rowEntries, 1), sha256(`${String(level)}/${String(row * rowEntries)}`));
  const keys = [...table.getKeys()];
  t.strictSame(
    keys.map(rowPlace).map(({ level, row }) => [level, row]),
    places,
  );
  t.throws(() => rows.append(0, leaves, sha256('one more'), 7), /a tree has at most 8589934592 leaves/u);
});

test('leases, keys of erasure and the founding are no leaves; every other category is folded', (t) => {
  const { tree, models } = given(t);
  const streamsOfAll = [...auditedCategories.map((category) => `${category}:a`), 'lease:a', 'key:a', 'platform:log'];
  const events = eventsOf(streamsOfAll);
  const founding: DomainEvent = { type: 'EpochStarted', logId: 'l', domain: 'svc.run', epoch: 0, reason: 'founded' };
  const last = events.at(-1)!;
  models.apply([...events.slice(0, -1), { ...last, ...encodeEvent(last.id, founding, metadata) }]);
  t.equal(tree.size(), auditedCategories.length);
  t.end();
});

test('in a later epoch positions are those that clients see', (t) => {
  const { tree, models } = given(t, 3);
  const events = eventsOf(['claim:a', 'claim:b', 'claim:c'], 3);
  models.apply(events);
  t.equal(tree.positionOf(1), events[1]!.position);
  t.equal(tree.indexOf(events[2]!.position), 2);
  t.end();
});

test('a root in the log is compared, wherever it comes from, and another one ends the fold', (t) => {
  const events = eventsOf(Array.from({ length: 300 }, (_none, index) => `claim:${String(index)}`));
  const root = Buffer.from(naiveRoot(events.slice(0, 257).map(leafOf))).toString('base64');
  const right = { size: 257, root };
  const stating = (stream: string, event: DomainEvent): RecordedEvent => ({
    ...eventsOf([stream])[0]!,
    ...encodeEvent(idOf('stated'), event, metadata),
    position: logPosition(9_000n),
  });
  const cases: readonly (readonly [string, (tree: typeof right) => DomainEvent])[] = [
    ['platform:tree', (tree) => ({ type: 'TreeHead', checkpoint: 'any', ...tree })],
    ['platform:log', (tree) => ({ type: 'CopyFinished', events: 300, tree })],
    [
      'platform:log',
      (tree) => ({
        type: 'EpochStarted',
        logId: 'l',
        domain: 'svc.run',
        epoch: 1,
        reason: 'restored',
        before: { tree: 'any', ...tree },
      }),
    ],
  ];
  for (const [stream, eventOf] of cases) {
    const { tree, models } = given(t);
    for (let at = 0; at < events.length; at += 64) models.apply(events.slice(at, at + 64));
    for (const wrong of [
      { size: 256, root },
      { ...right, root: events[0]!.id },
      { size: 302, root },
    ]) {
      const before = [tree.size(), tree.root(tree.size()), models.position()];
      t.throws(() => models.apply([stating(stream, eventOf(wrong))]), { name: 'TreeMismatchError' });
      t.strictSame([tree.size(), tree.root(tree.size()), models.position()], before, 'nothing is folded');
    }
    models.apply([stating(stream, eventOf(right))]);
    t.match(tree.lastHead(), stream === 'platform:tree' ? { ...right, index: 300 } : undefined);
  }
  t.end();
});

test('a batch that another part cannot fold leaves the tree as it was', (t) => {
  const dir = folder();
  const tree = new TreePart(() => 0);
  let isRefused = false;
  const other = {
    name: 'other',
    format: 1,
    open: () => undefined,
    add: () => 0,
    write: () => {
      if (isRefused) throw new Error('refused');
    },
    committed: () => undefined,
    rolledBack: () => undefined,
    cleared: () => undefined,
  };
  const parts = [tree, other];
  const tables = new AuditTables(dir, parts);
  t.teardown(async () => {
    await tables.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const identity = () => ({ logId: 'the log', epoch: 0 });
  const models = new AuditModels({ tables, parts, identity, clock: new FakeClock() });
  const events = eventsOf(Array.from({ length: 90 }, (_none, index) => `claim:${String(index)}`));
  models.apply(events.slice(0, 20));
  isRefused = true;
  t.throws(() => models.apply(events.slice(20, 60)), /refused/u);
  t.equal(tree.size(), 20);
  isRefused = false;
  models.apply(events.slice(20));
  t.strictSame(Buffer.from(tree.root(90)), Buffer.from(naiveRoot(events.map(leafOf))));
  models.clear();
  t.strictSame([tree.size(), tree.lastHead()], [0, undefined]);
  models.apply(events);
  t.strictSame(Buffer.from(tree.root(90)), Buffer.from(naiveRoot(events.map(leafOf))), 'rebuilt');
  t.end();
});

test('a log that is folded from its beginning and one that is followed have one root', async (t) => {
  const log = new MemoryLog();
  for (let index = 0; index < 40; index += 1) {
    const event = { id: idOf(String(index)), type: 'W', data: Buffer.from('{}'), metadata: Buffer.from('{}') };
    await log.append(streamName(`claim:${String(index)}`), [event], 'absent');
  }
  const [one, two] = [given(t), given(t)];
  await catchUp(log, one.models, { signal: new AbortController().signal });
  for await (const batch of log.readAll({ after: logPosition(0n) }))
    for (const event of batch) two.models.apply([event]);
  t.strictSame(one.tree.root(40), two.tree.root(40));
});
