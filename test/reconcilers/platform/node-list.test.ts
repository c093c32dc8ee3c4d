/** The nodes of a log as each of them sees the others. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { LeaseElector } from '../../../reconcilers/lease.ts';
import { Heartbeat } from '../../../reconcilers/platform/heartbeat.ts';
import { NodeList } from '../../../reconcilers/platform/node-list.ts';
import { lostNodeMs, nodesKnownMax, nodeTextLengthMax } from '../../../reconcilers/platform/platform-limits.ts';
import { eventSchema, type EventMetadata, type NodeEvent } from '../../../src/command/event.ts';
import { leaseMs, leaseRenewMs } from '../../../src/limits/reconcilers.ts';
import { encodeEvent } from '../../../src/log/event-codec.ts';
import { logStart, streamName } from '../../../src/log/log.ts';
import type { NodeRecord } from '../../../src/read/operation/nodes.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { idOf } from '../../support/id-of.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { nodeAbout } from '../../support/memory/node-about.ts';

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

class Stage {
  readonly clock = new FakeClock();
  readonly log = new MemoryLog();
  readonly errors: unknown[] = [];
  #ids = 0;

  constructor(t: Test) {
    t.teardown(async () => this.log.close());
  }

  node(t: Test, node: string, since: string) {
    const { clock, log } = this;
    const describe = () => ({ ...nodeAbout, host: `${node}.example`, since });
    const onError = (error: unknown): void => {
      this.errors.push(error);
    };
    const given = { log, clock, node, reads: 3, describe, onError, uuid: () => this.#id(), metadata: () => metadata };
    const leadership = new LeaseElector(given);
    const heartbeat = new Heartbeat({ ...given, drained: () => logStart });
    const list = new NodeList({ ...given, isAlone: false, leadership });
    for (const part of [list, leadership, heartbeat]) part.start();
    t.teardown(async () => list.stop());
    return {
      list,
      leadership,
      stop: async () => this.passing(Promise.all([leadership.stop(), heartbeat.stop(), list.stop()])),
    };
  }

  async append(node: string, event: NodeEvent | object): Promise<void> {
    const proposed = encodeEvent(this.#id(), event as NodeEvent, metadata);
    await this.log.append(streamName(`lease:node/${node}`), [proposed], 'absent');
  }

  async pass(ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.advance(Math.min(stepMs, ms - passed));
      for (let turn = 0; turn < 8; turn += 1) await nextTurn();
    }
  }

  async passing(promise: Promise<unknown>): Promise<void> {
    const state = { isOver: false };
    const ended = promise.then(() => {
      state.isOver = true;
    });
    while (!state.isOver) await this.pass(500);
    await ended;
  }

  #id(): string {
    this.#ids += 1;
    return idOf(`event ${String(this.#ids)}`);
  }
}

const briefly = (records: readonly NodeRecord[]) => records.map(({ id, isLeader, isLive }) => [id, isLeader, isLive]);

test('every node lists all nodes, and the leader', async (t) => {
  const stage = new Stage(t);
  const one = stage.node(t, 'one', '2026-01-01T00:00:00.000Z');
  await stage.pass(leaseRenewMs);
  const two = stage.node(t, 'two', '2026-01-01T00:00:05.000Z');
  await stage.pass(leaseRenewMs + 1_000);
  for (const { list } of [one, two])
    t.strictSame(briefly(list.all()), [
      ['one', true, true],
      ['two', false, true],
    ]);
  t.match(two.list.all()[0], {
    host: 'one.example',
    version: nodeAbout.version,
    since: '2026-01-01T00:00:00.000Z',
    position: '0',
    level: 3,
  });
  await one.stop();
  await stage.pass(2_000);
  t.strictSame(briefly(two.list.all()), [['two', true, true]], 'after an orderly stop');
  t.strictSame(stage.errors, []);
  await two.stop();
});

test('a silent node is not live after a lease time, and not listed after an hour', async (t) => {
  const stage = new Stage(t);
  const one = stage.node(t, 'one', '2026-01-01T00:00:00.000Z');
  await stage.pass(1_000);
  await stage.append('silent', { type: 'NodeSeen', reads: 2, beatMs: leaseRenewMs });
  await stage.pass(500);
  const seenAt = new Date(stage.clock.now() - 500).toISOString();
  const silent = () => one.list.all().find(({ id }) => id === 'silent');
  t.match(silent(), { isLive: true, isLeader: false, level: 2, lastSeen: seenAt });
  t.equal(silent()?.host, undefined, 'an older version does not describe itself');
  await stage.pass(leaseMs);
  t.match(silent(), { isLive: false, lastSeen: seenAt });
  await stage.pass(lostNodeMs, 5_000);
  t.equal(silent(), undefined);
  await one.stop();
});

test('the listed nodes and their texts are bounded, and other values are ignored', async (t) => {
  const stage = new Stage(t);
  const one = stage.node(t, 'one', '2026-01-01T00:00:00.000Z');
  await stage.pass(1_000);
  const beat = { type: 'NodeSeen', reads: 2, beatMs: leaseRenewMs };
  for (let node = 0; node < nodesKnownMax; node += 1) await stage.append(`node-${String(node)}`, beat);
  await stage.append('long', { ...beat, host: 'x'.repeat(1_000), version: 7 });
  await stage.pass(500);
  const all = one.list.all();
  t.equal(all.length, nodesKnownMax + 1);
  t.notOk(
    all.some(({ id }) => id === 'node-0'),
    'the node that was seen longest ago gave way',
  );
  const long = all.find(({ id }) => id === 'long');
  t.strictSame([long?.host, long?.version], ['x'.repeat(nodeTextLengthMax), undefined]);
  await one.stop();
});
