import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { visitor, type Subject } from '../../src/command/subject.ts';
import {
  watchAheadWaitMs,
  watchBookmarkMs,
  watchCatchUpTurnMs,
  watchersMax,
  watchKeepAliveMs,
  watchTurnMs,
} from '../../src/limits/watches.ts';
import { logPosition, logStart, streamName, type EventLog } from '../../src/log/log.ts';
import { SnapshotsExhaustedError } from '../../src/read/objects.ts';
import { Audiences } from '../../src/watch/audience.ts';
import { WatchHub } from '../../src/watch/hub.ts';
import { watchCatchUpsMax } from '../../src/limits/watches.ts';
import { Outboxes, type OutboxBounds } from '../../src/watch/outbox.ts';
import { clientOf } from '../../src/read/client.ts';
import type { WatchPlan } from '../../src/watch/watch-plan.ts';
import { Watcher } from '../../src/watch/watcher.ts';
import { watchCatchUpStallMs, watchCatchUpUnreadBytesMax } from '../../src/limits/watches.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { collect, proposed } from '../support/memory/log-events.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { MemoryObjects, WidgetWriter } from '../support/memory/memory-objects.ts';
import { widgetType, type WidgetContent } from '../support/watched-type.ts';
import { ToilingClock } from '../support/clocks/toiling-clock.ts';
import { RecordingSink } from './recording-sink.ts';

const type = widgetType();
const nothing = { labels: [], fields: [] };

type NodeChanges = {
  readonly log?: (log: EventLog) => EventLog;
  readonly recentChanges?: number;
  readonly bounds?: OutboxBounds;
  readonly clock?: FakeClock;
};

class Node {
  readonly clock: FakeClock;
  readonly log = new MemoryLog();
  readonly writer = new WidgetWriter(this.log);
  readonly objects: MemoryObjects;
  readonly faults: unknown[] = [];
  readonly hub: WatchHub;

  constructor(changes: NodeChanges = {}) {
    const log = changes.log?.(this.log) ?? this.log;
    this.clock = changes.clock ?? new FakeClock();
    this.objects = new MemoryObjects(this.log, this.clock, [type]);
    this.hub = new WatchHub({
      feed: this.objects,
      reader: this.objects,
      log,
      clock: this.clock,
      report: (error) => {
        this.faults.push(error);
      },
      recent: { bytesMax: 1_000_000, changesMax: changes.recentChanges ?? 100 },
      outboxes: new Outboxes(this.clock, changes.bounds),
    });
  }

  watch(
    plan: Partial<WatchPlan> = {},
    sink: RecordingSink = new RecordingSink(),
  ): { readonly watcher: Watcher; readonly sink: RecordingSink } {
    const watcher = this.hub.open(
      {
        type,
        name: undefined,
        subject: visitor,
        client: clientOf(visitor, '127.0.0.1'),
        selection: nothing,
        start: { kind: 'now' },
        bookmarks: false,
        timeoutMs: undefined,
        ...plan,
      },
      sink,
    );
    return { watcher, sink };
  }

  async write(name: string, content: number | WidgetContent = 1): Promise<void> {
    await this.writer.write(name, typeof content === 'number' ? { size: content } : content);
    await this.objects.fold();
  }
}

async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

test('a batch is one buffer, shared by watchers with the same view, and one write each', async (t) => {
  const node = new Node();
  const [first, second] = [node.watch(), node.watch()];
  const other = node.watch({ selection: { labels: [{ key: 'app', operator: 'exists' }], fields: [] } });
  for (const name of ['a', 'b', 'c'])
    await node.writer.write(name, { size: 1, ...(name === 'b' ? { labels: { app: 'x' } } : {}) });
  await node.objects.fold();
  t.equal(first.sink.written.length, 1);
  t.strictSame(first.sink.story, ['ADDED a@1', 'ADDED b@2', 'ADDED c@3']);
  t.equal(first.sink.written[0], second.sink.written[0], 'the very same buffer');
  t.strictSame(other.sink.story, ['ADDED b@2']);
});

test('a live watcher gets a change in the turn it is published', async (t) => {
  const node = new Node();
  const { sink } = node.watch();
  await node.writer.write('a', { size: 1 });
  node.objects.apply(await collect(node.log.readAll({ after: logStart })));
  t.strictSame(sink.story, ['ADDED a@1']);
});

test('with other watchers, a watch from a recent position is live at once, without reading the log', async (t) => {
  let reads = 0;
  const node = new Node({
    log: (log) =>
      new Proxy(log, {
        get: (target, member, receiver) => {
          if (member === 'readAll') reads += 1;
          return Reflect.get(target, member, receiver) as unknown;
        },
      }),
  });
  node.watch({ start: { kind: 'now' } });
  for (const name of ['a', 'b', 'c']) await node.write(name);
  const { watcher, sink } = node.watch({ start: { kind: 'after', position: logPosition(1n) } });
  t.equal(watcher.state, 'live');
  t.strictSame(sink.story, ['ADDED b@2', 'ADDED c@3']);
  t.equal(reads, 0);
});

test('a change folded while a watcher reads its state and the log is sent once', async (t) => {
  const node = new Node({ recentChanges: 0 });
  for (const name of ['a', 'b', 'c', 'd', 'e']) await node.write(name);
  const { watcher, sink } = node.watch({
    start: { kind: 'state', notBefore: undefined, marksEnd: true },
    bookmarks: true,
  });
  await turns(1);
  for (let write = 0; write < 8; write += 1) await node.write('a', write);
  await turns(40);
  t.equal(watcher.state, 'live');
  t.strictSame(sink.story.slice(0, 6), [
    'ADDED a@1',
    'ADDED b@2',
    'ADDED c@3',
    'ADDED d@4',
    'ADDED e@5',
    'BOOKMARK -@5',
  ]);
  t.strictSame(
    sink.story.slice(6),
    [6, 7, 8, 9, 10, 11, 12, 13].map((position) => `MODIFIED a@${position.toString()}`),
  );
  t.equal(sink.seen[5]?.endMark, true);
});

test('the end of the state is marked only for watchers that asked for bookmarks', async (t) => {
  const node = new Node();
  await node.write('a');
  const { sink } = node.watch({ start: { kind: 'state', notBefore: undefined, marksEnd: true } });
  await turns();
  t.strictSame(sink.story, ['ADDED a@1']);
});

test('a watch on one name waits for it', async (t) => {
  const node = new Node();
  const { sink } = node.watch({ name: 'b', start: { kind: 'state', notBefore: undefined, marksEnd: false } });
  await turns();
  for (const name of ['a', 'b', 'c']) await node.write(name);
  t.strictSame(sink.story, ['ADDED b@2']);
});

test('a watch waits for a position ahead of the log', async (t) => {
  const node = new Node();
  const { watcher, sink } = node.watch({ start: { kind: 'after', position: logPosition(2n) } });
  t.equal(watcher.state, 'catching-up');
  node.clock.advance(watchAheadWaitMs - 1);
  for (const name of ['a', 'b', 'c']) await node.write(name);
  await turns();
  t.equal(watcher.state, 'live');
  t.strictSame(sink.story, ['ADDED c@3']);
});

test('a position that stays ahead of the log is expired', async (t) => {
  const node = new Node();
  await node.write('a');
  const { watcher, sink } = node.watch({ start: { kind: 'after', position: logPosition(2n) } });
  node.clock.advance(watchAheadWaitMs);
  await turns();
  t.equal(watcher.state, 'closed');
  t.match(sink.ending, { reason: 'expired', detail: /2 is ahead of the log, which ends at 1/u });
});

test('a watch waits without a limit for a position that only the read models lack', async (t) => {
  const node = new Node();
  await node.writer.write('a', { size: 1 });
  const { watcher, sink } = node.watch({ start: { kind: 'after', position: logPosition(1n) } });
  for (let wait = 0; wait < 3; wait += 1) {
    node.clock.advance(watchAheadWaitMs);
    await turns();
  }
  t.equal(watcher.state, 'catching-up');
  await node.write('b');
  await turns();
  t.strictSame(sink.story, ['ADDED b@2']);
});

test('a watch waits until the state is as new as requested', async (t) => {
  const node = new Node();
  await node.writer.write('a', { size: 1 });
  const { sink } = node.watch({ start: { kind: 'state', notBefore: logPosition(1n), marksEnd: false } });
  await turns();
  t.strictSame(sink.story, []);
  await node.objects.fold();
  await turns();
  t.strictSame(sink.story, ['ADDED a@1']);
});

test('a slow watcher is disconnected past its limit while the others continue', async (t) => {
  const node = new Node({ bounds: { bytesMax: 100_000, accountBytesMax: 100_000, watcherBytesMax: 500 } });
  const slow = node.watch();
  const quick = node.watch();
  slow.sink.block();
  for (let write = 0; write < 4; write += 1) await node.write('a', write);
  t.equal(slow.watcher.state, 'closed');
  slow.sink.unblock();
  t.equal(slow.sink.ending?.reason, 'too-slow');
  t.strictSame(slow.sink.story, ['ADDED a@1'], 'the received events are complete');
  t.equal(quick.sink.seen.length, 4);
  t.equal(node.hub.size, 1);
});

test('catch-ups that are not read block no other reader of the log, and end', async (t) => {
  const node = new Node({ recentChanges: 0 });
  const text = 'x'.repeat(watchCatchUpUnreadBytesMax);
  for (const name of ['a', 'b']) await node.write(name, { text });
  const stuck = Array.from({ length: 2 * watchCatchUpsMax }, () => {
    const sink = new RecordingSink();
    sink.block();
    return node.watch({ start: { kind: 'after', position: logStart } }, sink);
  });
  const next = node.watch({ start: { kind: 'after', position: logStart } });
  await turns(400);
  t.strictSame(next.sink.story, ['ADDED a@1', 'ADDED b@2']);
  t.ok(
    stuck.every(
      ({ watcher }) => watcher.state === 'catching-up' && watcher.outbox.unreadBytes < 2 * watchCatchUpUnreadBytesMax,
    ),
  );
  node.clock.advance(watchCatchUpStallMs + 1_000);
  for (const { sink } of stuck) sink.unblock();
  await turns();
  t.ok(stuck.every(({ sink }) => sink.ending?.reason === 'too-slow'));
  t.ok(
    stuck.every(({ sink }) => sink.story.length === 1),
    'the received events are complete',
  );
});

test('one timer serves keep-alives, bookmarks and timed ends, and none is left without watchers', async (t) => {
  const node = new Node();
  await node.write('a');
  const idle = node.watch();
  const marked = node.watch({ bookmarks: true });
  const timed = node.watch({ timeoutMs: 5_000, bookmarks: true });
  t.equal(node.clock.timers, 1);
  node.clock.advance(6_000);
  t.equal(timed.sink.ending?.reason, 'timed-out');
  t.strictSame(timed.sink.story, ['BOOKMARK -@1']);
  node.clock.advance(watchBookmarkMs);
  await turns();
  t.ok(idle.sink.keepAlives.length >= 2);
  t.ok(idle.sink.keepAlives.every((at, index, all) => at - (all[index - 1] ?? 0) <= watchKeepAliveMs));
  t.strictSame(marked.sink.story, ['BOOKMARK -@1']);
  idle.watcher.closed();
  marked.watcher.closed();
  t.equal(node.clock.timers, 0);
});

test('watchers past the limit are refused', async (t) => {
  const node = new Node();
  for (let count = 0; count < watchersMax - 1; count += 1) node.watch();
  t.equal(node.hub.refusal(), undefined);
  const last = node.watch();
  t.equal(node.hub.refusal(), 'too-many-watchers');
  last.watcher.closed();
  t.equal(node.hub.refusal(), undefined);
});

test('shutting down ends every watch and refuses new ones', async (t) => {
  const node = new Node({ recentChanges: 0 });
  await node.write('a');
  const live = node.watch();
  const reading = node.watch({ start: { kind: 'after', position: logStart } });
  node.hub.closeAll();
  t.equal(live.sink.ending?.reason, 'shutting-down');
  t.equal(reading.sink.ending?.reason, 'shutting-down');
  t.equal(node.hub.refusal(), 'shutting-down');
  for (const { watcher } of [live, reading]) watcher.closed();
  t.equal(node.clock.timers, 0);
  await node.write('b');
  await turns();
  t.strictSame([...live.sink.story, ...reading.sink.story], []);
  t.strictSame(node.faults, []);
});

test('a type that is no longer served loses its watchers, and no other type does', async (t) => {
  const node = new Node();
  const gadgets = node.watch({ type: widgetType('gadgets') });
  const widgets = node.watch();
  node.hub.closeType(type.key);
  t.equal(widgets.sink.ending?.reason, 'type-removed');
  t.equal(gadgets.watcher.state, 'live');
});

test('a review checks the rights for the objects that each watch can see', async (t) => {
  const node = new Node();
  const ada: Subject = { kind: 'user', name: 'ada', credential: { kind: 'password', uid: 'u' } };
  const all = node.watch({ subject: ada });
  const one = node.watch({
    subject: ada,
    selection: { labels: [], fields: [{ index: 0, operator: 'in', keys: ['a'] }] },
  });
  const byPath = node.watch({ subject: ada, name: 'a' });
  const other = node.watch();
  node.hub.recheck(({ subject, name }) => subject.kind === 'visitor' || name === 'a');
  t.equal(all.sink.ending?.reason, 'rights-lost');
  t.strictSame(
    [one, byPath, other].map(({ watcher }) => watcher.state),
    ['live', 'live', 'live'],
  );
});

test('a fault while a watch catches up ends that watch and is reported', async (t) => {
  const broken = new Error('disk');
  const node = new Node({
    recentChanges: 0,
    log: (log) =>
      new Proxy(log, {
        get: (target, member, receiver) => {
          if (member === 'readAll')
            return () => {
              throw broken;
            };
          return Reflect.get(target, member, receiver) as unknown;
        },
      }),
  });
  node.objects.objects = () => {
    throw new SnapshotsExhaustedError(64);
  };
  await node.write('a');
  const live = node.watch();
  const reading = node.watch({ start: { kind: 'after', position: logStart } });
  const listing = node.watch({ start: { kind: 'state', notBefore: undefined, marksEnd: false } });
  await turns();
  t.equal(reading.sink.ending?.reason, 'failed');
  t.equal(listing.sink.ending?.reason, 'overloaded', 'which is no fault');
  t.strictSame(node.faults, [broken]);
  t.equal(live.watcher.state, 'live');
});

test('events of other categories move no watcher and stop none', async (t) => {
  const node = new Node({ recentChanges: 0 });
  await node.write('a');
  await node.log.append(streamName('claim:widgets.example.com/x/1'), [proposed('claim')], 'absent');
  await node.write('b');
  const { watcher, sink } = node.watch({ start: { kind: 'after', position: logPosition(2n) } });
  await turns();
  t.equal(watcher.state, 'live');
  t.strictSame(sink.story, ['ADDED b@3']);
});

test('an audience ends with its last watcher', async (t) => {
  const audiences = new Audiences();
  const plans: Partial<WatchPlan>[] = [
    {},
    {},
    { name: 'a' },
    { name: 'a', bookmarks: true },
    { name: 'b' },
    { type: widgetType('gadgets') },
  ];
  const watchers = plans.map((plan) => {
    const whole: WatchPlan = {
      type,
      name: undefined,
      subject: visitor,
      client: clientOf(visitor, '127.0.0.1'),
      selection: nothing,
      start: { kind: 'now' },
      bookmarks: false,
      timeoutMs: undefined,
      ...plan,
    };
    const watcher = new Watcher(whole, new RecordingSink(), {
      now: 0,
      cursor: logStart,
      outboxes: new Outboxes(new FakeClock()),
      onClosed: () => undefined,
    });
    audiences.enter(watcher, audiences.of(whole, watcher.sink.encoding));
    return watcher;
  });
  t.equal(audiences.size, 4);
  for (const watcher of watchers) audiences.leave(watcher);
  t.equal(audiences.size, 0);
});

test('watches that pass their byte limit together receive nothing more, and end in several turns', async (t) => {
  const clock = new ToilingClock();
  const count = 500;
  const bounds = { bytesMax: 1_000_000_000, accountBytesMax: 1_000_000_000, watcherBytesMax: 2_000 };
  const node = new Node({ clock, bounds });
  const silent = Array.from({ length: count }, () => node.watch());
  const reading = node.watch();
  for (const { sink } of silent) sink.block();
  // The first write is on its way, the second one waits.
  for (let round = 0; round < 2; round += 1) await node.write('a', { text: 'x'.repeat(1_000) });
  const written = silent.map(({ sink }) => sink.written.length);
  clock.lookMs = 1;
  await node.write('b');
  t.ok(node.hub.size > count - watchTurnMs, `${String(node.hub.size)} have not left`);
  t.ok(silent.every(({ watcher }) => watcher.state === 'closed'));
  let [turnsTaken, left] = [0, node.hub.size];
  for (; left > 1; left = node.hub.size) {
    await nextTurn();
    turnsTaken += 1;
    if (left - node.hub.size > watchTurnMs) t.fail(`${String(left - node.hub.size)} left in one turn`);
  }
  t.ok(turnsTaken >= count / watchTurnMs, `${String(turnsTaken)} turns`);
  clock.lookMs = 0;
  for (const { sink } of silent) sink.unblock();
  await turns();
  t.strictSame(
    silent.map(({ sink }) => sink.written.length),
    written,
    'what waited was dropped',
  );
  t.ok(silent.every(({ sink }) => sink.ending?.reason === 'too-slow'));
  t.equal(reading.watcher.state, 'live');
});

test('watches that are opened in one turn join in several turns, without a gap', async (t) => {
  const clock = new ToilingClock();
  const node = new Node({ clock });
  node.watch();
  const start = { kind: 'after', position: node.objects.position() } as const;
  for (const name of ['a', 'b']) await node.write(name);
  clock.lookMs = watchCatchUpTurnMs / 2;
  const opened = Array.from({ length: 40 }, () => node.watch({ start }));
  const joined = (): number => opened.filter(({ watcher }) => watcher.state === 'live').length;
  let most = joined();
  for (let before = most; before < opened.length; before = joined()) {
    await nextTurn();
    most = Math.max(most, joined() - before);
  }
  t.ok(most <= 4, `${String(most)} in one turn`);
  clock.lookMs = 0;
  await node.write('c');
  await turns();
  for (const { sink } of opened)
    t.strictSame(
      sink.seen.map(({ name }) => name),
      ['a', 'b', 'c'],
    );
});
