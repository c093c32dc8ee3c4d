/** Nodes that say which level they read, and the one that leads, which raises the log's. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { Heartbeat, nodeOf } from '../../../reconcilers/platform/heartbeat.ts';
import { Levels } from '../../../reconcilers/platform/levels.ts';
import { eventSchema, type EventMetadata } from '../../../src/command/event.ts';
import { leaseMs, leaseReleaseMs, leaseRenewMs } from '../../../src/limits/reconcilers.ts';
import { decodeEvent } from '../../../src/log/event-codec.ts';
import { logPosition, logStart, streamName, type EventLog } from '../../../src/log/log.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { idOf } from '../../support/id-of.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { altered } from '../../support/writing.ts';
import { nodeAbout } from '../../support/memory/node-about.ts';

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

async function pass(clock: FakeClock, ms: number, stepMs = 500): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed));
    for (let turn = 0; turn < 8; turn += 1) await nextTurn();
  }
}

/** A node that follows the log's level; `log` replaces the log that it asks. */
class Node {
  level = 1;
  readonly errors: unknown[] = [];
  readonly heartbeat: Heartbeat;
  readonly levels: Levels;
  readonly #listeners = new Set<(leads: boolean) => void>();
  #leads = false;

  constructor(
    node: string,
    {
      log,
      clock,
      reads,
      isAlone = false,
    }: { readonly log: EventLog; readonly clock: FakeClock; readonly reads: number; readonly isAlone?: boolean },
  ) {
    let ids = 0;
    const given = {
      log,
      clock,
      node,
      reads,
      drained: () => logStart,
      describe: () => nodeAbout,
      uuid: () => {
        ids += 1;
        return idOf(`${node} ${String(ids)}`);
      },
      metadata: () => metadata,
    };
    this.heartbeat = new Heartbeat(given);
    this.levels = new Levels({
      ...given,
      isAlone,
      reader: { reached: async () => Promise.resolve('reached' as const) },
      level: { level: () => this.level, subscribe: () => () => undefined },
      leadership: {
        isLeader: () => this.#leads,
        subscribe: (listener) => {
          this.#listeners.add(listener);
          return () => {
            this.#listeners.delete(listener);
          };
        },
      },
      onRaised: () => undefined,
      onError: (error) => {
        this.errors.push(error);
      },
    });
  }

  lead(leads = true): void {
    this.#leads = leads;
    for (const listener of this.#listeners) listener(leads);
  }

  async follow(log: EventLog): Promise<void> {
    for await (const batch of log.subscribe({ after: logStart, categories: ['platform'] })) {
      for (const recorded of batch) {
        const { event } = decodeEvent(recorded);
        if (event.type === 'LevelRaised') this.level = event.level;
      }
    }
  }
}

type World = {
  readonly log: MemoryLog;
  readonly clock: FakeClock;
  readonly nodes: readonly Node[];
  readonly raised: () => Promise<readonly number[]>;
};

function opened(t: Test, reads: readonly number[], through: (log: EventLog) => EventLog = (log) => log): World {
  const [log, clock] = [new MemoryLog(), new FakeClock()];
  const nodes = reads.map(
    (level, index) => new Node(`n${String(index)}`, { log: index === 0 ? through(log) : log, clock, reads: level }),
  );
  for (const node of nodes) void node.follow(log);
  t.teardown(async () => {
    for (const { levels, heartbeat } of nodes) {
      levels.stop();
      const stopped = heartbeat.stop();
      await pass(clock, leaseReleaseMs);
      await stopped;
    }
    await log.close();
  });
  const raised = async (): Promise<readonly number[]> => {
    const events = await log.readStream(streamName('platform:level'), { from: 0 as never, limit: 100 });
    return events.map((recorded) => {
      const { event } = decodeEvent(recorded);
      return event.type === 'LevelRaised' ? event.level : 0;
    });
  };
  return { log, clock, nodes, raised };
}

test('a single node raises the level at once, and once', async (t) => {
  const [log, clock] = [new MemoryLog(), new FakeClock()];
  const node = new Node('alone', { log, clock, reads: 2, isAlone: true });
  const following = node.follow(log);
  const open = node.levels.open();
  await pass(clock, 10_000);
  await open;
  await node.levels.open();
  t.equal(node.level, 2);
  t.equal((await log.readStream(streamName('platform:level'), { from: 0 as never, limit: 10 })).length, 1);
  node.levels.stop();
  await log.close();
  await following;
});

test('the leader raises the level once all nodes read the next one and a lease time has passed', async (t) => {
  const { clock, nodes, raised } = opened(t, [2, 2, 2]);
  for (const { heartbeat } of nodes) heartbeat.start();
  nodes[0]!.lead();
  await pass(clock, leaseMs);
  t.same(await raised(), [], 'a live node may not have been heard yet');
  await pass(clock, 4 * leaseRenewMs);
  t.same(await raised(), [2]);
  t.same(
    nodes.map(({ level }) => level),
    [2, 2, 2],
  );
  await pass(clock, 2 * leaseMs);
  t.same(await raised(), [2], 'nothing is left to raise');
});

test('a live node that does not read the next level prevents it until it leaves or is silent', async (t) => {
  for (const end of ['stop', 'die'] as const) {
    let isCut = false;
    const { clock, nodes, raised, log } = opened(t, [2]);
    const older = new Node('older', {
      log: altered(log, {
        append: async (...call) =>
          isCut ? { ok: false, reason: 'unavailable', cause: new Error('dead') } : log.append(...call),
      }),
      clock,
      reads: 1,
    });
    older.heartbeat.start();
    nodes[0]!.heartbeat.start();
    nodes[0]!.lead();
    await pass(clock, 4 * leaseMs);
    t.same(await raised(), [], end);
    if (end === 'die') isCut = true;
    const stopped = end === 'stop' ? older.heartbeat.stop() : Promise.resolve();
    await pass(clock, 2 * leaseRenewMs);
    if (end === 'die') t.same(await raised(), [], 'it may only be slow');
    await pass(clock, leaseMs + leaseRenewMs);
    t.same(await raised(), [2], end);
    await stopped;
    const last = older.heartbeat.stop();
    await pass(clock, leaseReleaseMs);
    await last;
  }
});

test('a follower raises nothing, nor does a deposed leader', async (t) => {
  const { clock, nodes, raised } = opened(t, [2, 2]);
  for (const { heartbeat } of nodes) heartbeat.start();
  await pass(clock, 4 * leaseMs);
  nodes[0]!.lead();
  await pass(clock, leaseRenewMs);
  nodes[0]!.lead(false);
  await pass(clock, 4 * leaseMs);
  t.same(await raised(), []);
  nodes[1]!.lead();
  await pass(clock, leaseMs + 4 * leaseRenewMs);
  t.same(await raised(), [2]);
});

test('a node that does not receive its own heartbeat raises nothing: it would not receive others either', async (t) => {
  let isStalled = true;
  const through = (log: EventLog): EventLog =>
    altered(log, {
      subscribe: async function* (options) {
        for await (const batch of log.subscribe(options)) {
          while (isStalled && options.signal?.aborted !== true) await nextTurn();
          yield batch;
        }
      },
    });
  const { clock, nodes, raised } = opened(t, [2], through);
  nodes[0]!.heartbeat.start();
  nodes[0]!.lead();
  await pass(clock, 4 * leaseMs);
  t.same(await raised(), []);
  isStalled = false;
  await pass(clock, leaseMs);
  t.same(await raised(), [2]);
});

test('an unavailable log postpones it, and earlier heartbeats no longer count', async (t) => {
  let isAway = true;
  const through = (log: EventLog): EventLog =>
    altered(log, { head: async () => (isAway ? Promise.reject(new Error('away')) : log.head()) });
  const { clock, nodes, raised } = opened(t, [2], through);
  nodes[0]!.heartbeat.start();
  nodes[0]!.lead();
  await pass(clock, 2 * leaseMs);
  isAway = false;
  await pass(clock, leaseMs);
  t.same(await raised(), []);
  await pass(clock, 4 * leaseRenewMs);
  t.same([await raised(), nodes[0]!.errors], [[2], []]);
});

test('a heartbeat continues after an append without a reply, and ends with a farewell', async (t) => {
  const [log, clock] = [new MemoryLog(), new FakeClock()];
  let lost = 2;
  const heartbeat = new Heartbeat({
    clock,
    node: 'n',
    reads: 2,
    drained: () => logPosition(7n),
    describe: () => nodeAbout,
    uuid: (() => {
      let ids = 0;
      return () => {
        ids += 1;
        return idOf(`beat ${String(ids)}`);
      };
    })(),
    metadata: () => metadata,
    log: {
      append: async (...call) => {
        const outcome = await log.append(...call);
        lost -= 1;
        return lost >= 0 ? { ok: false, reason: 'unknown', cause: new Error('no answer') } : outcome;
      },
    },
  });
  heartbeat.start();
  await pass(clock, 4 * leaseRenewMs);
  const stopped = heartbeat.stop();
  await pass(clock, leaseReleaseMs);
  await stopped;
  const events = (await log.readStream(streamName('lease:node/n'), { from: 0 as never, limit: 100 })).map(
    (recorded) => decodeEvent(recorded).event,
  );
  t.match(events[0], { type: 'NodeSeen', reads: 2, beatMs: leaseRenewMs, drained: '7' });
  t.same(events.at(-1), { type: 'NodeLeft' });
  t.ok(events.length >= 4 && events.slice(0, -1).every(({ type }) => type === 'NodeSeen'), String(events.length));
  t.same([nodeOf(streamName('lease:node/n')), nodeOf(streamName('lease:reconcilers'))], ['n', undefined]);
  await log.close();
});
