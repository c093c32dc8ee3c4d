import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { watchBookmarkMs, watchBufferedBytesMax, watchKeepAliveMs } from '../../src/limits/watches.ts';
import { logPosition } from '../../src/log/log.ts';
import { Watcher, watcherBeatMs, type WatcherState } from '../../src/watch/watcher.ts';
import { watchCatchUpStallMs } from '../../src/limits/watches.ts';
import type { WatchPlan } from '../../src/watch/watch-plan.ts';
import { visitor } from '../../src/command/subject.ts';
import { widgetType } from '../support/watched-type.ts';
import { clientOf } from '../../src/read/client.ts';
import { Frames } from '../../src/watch/frames.ts';
import { Outboxes } from '../../src/watch/outbox.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { RecordingSink } from './recording-sink.ts';

const frames = new Frames(Buffer.from('{"type":"ADDED","object":{"metadata":{}}}\n'));
const half = new Frames(Buffer.alloc(watchBufferedBytesMax / 2));
const byte = new Frames(Buffer.from('\n'));
const at = logPosition(7n);

function planned(changes: Partial<WatchPlan> = {}): WatchPlan {
  const plan: WatchPlan = {
    type: widgetType(),
    name: undefined,
    subject: visitor,
    client: clientOf(visitor, '127.0.0.1'),
    selection: { labels: [], fields: [] },
    start: { kind: 'after', position: at },
    bookmarks: false,
    timeoutMs: undefined,
  };
  return { ...plan, ...changes };
}

function watching(
  state: WatcherState,
  plan: WatchPlan = planned(),
): { readonly watcher: Watcher; readonly sink: RecordingSink; readonly closed: () => number } {
  const sink = new RecordingSink();
  let closings = 0;
  const watcher = new Watcher(plan, sink, {
    now: 0,
    cursor: at,
    outboxes: new Outboxes(new FakeClock()),
    onClosed: () => {
      closings += 1;
    },
  });
  if (state === 'live') watcher.join();
  if (state === 'closed') watcher.closed();
  return { watcher, sink, closed: () => closings };
}

type Occurrence =
  | 'replay'
  | 'join'
  | 'offer'
  | 'offer past the bound'
  | 'end'
  | 'left'
  | 'beat'
  | 'beat past the end'
  | 'beat after a stall'
  | 'beat unanswered';
type Expected = { readonly state: WatcherState; readonly sink: 'untouched' | 'written' | 'ended' | 'cut' } | 'throws';

const occurrences: Readonly<Record<Occurrence, (watcher: Watcher, sink: RecordingSink) => void>> = {
  replay: (watcher) => {
    watcher.replay([frames], at, 0);
  },
  join: (watcher) => {
    watcher.join();
  },
  offer: (watcher) => {
    watcher.offer([frames], 0);
  },
  'offer past the bound': (watcher, sink) => {
    sink.block();
    for (const unread of [half, half, byte, byte]) watcher.offer([unread], 0);
    sink.unblock();
    sink.written.length = 0;
  },
  end: (watcher) => {
    watcher.end({ reason: 'type-removed', detail: '' });
  },
  left: (watcher) => {
    watcher.closed();
  },
  beat: (watcher) => {
    watcher.beat(watcherBeatMs, at);
  },
  'beat past the end': (watcher) => {
    watcher.beat(60_000, at);
  },
  'beat after a stall': (watcher) => {
    watcher.stall(0);
    watcher.beat(watchCatchUpStallMs, at);
  },
  'beat unanswered': (watcher, sink) => {
    sink.unresponsive = true;
    watcher.beat(watcherBeatMs, at);
  },
};

const closedStays: Expected = { state: 'closed', sink: 'untouched' };
const ends: Expected = { state: 'closed', sink: 'ended' };

const table: Readonly<Record<WatcherState, Readonly<Record<Occurrence, Expected>>>> = {
  'catching-up': {
    replay: { state: 'catching-up', sink: 'written' },
    join: { state: 'live', sink: 'untouched' },
    offer: 'throws',
    'offer past the bound': 'throws',
    end: ends,
    left: closedStays,
    beat: { state: 'catching-up', sink: 'untouched' },
    'beat past the end': ends,
    'beat after a stall': ends,
    'beat unanswered': { state: 'closed', sink: 'cut' },
  },
  live: {
    replay: 'throws',
    join: 'throws',
    offer: { state: 'live', sink: 'written' },
    'offer past the bound': ends,
    end: ends,
    left: closedStays,
    beat: { state: 'live', sink: 'untouched' },
    'beat past the end': ends,
    'beat after a stall': ends,
    'beat unanswered': { state: 'closed', sink: 'cut' },
  },
  closed: {
    replay: closedStays,
    join: closedStays,
    offer: closedStays,
    'offer past the bound': closedStays,
    end: closedStays,
    left: closedStays,
    beat: closedStays,
    'beat past the end': closedStays,
    'beat after a stall': closedStays,
    'beat unanswered': closedStays,
  },
};

function entriesOf<Key extends string, Value>(
  record: Readonly<Record<Key, Value>>,
): readonly (readonly [Key, Value])[] {
  return Object.entries(record) as [Key, Value][];
}

for (const [state, row] of entriesOf(table)) {
  for (const [occurrence, expected] of entriesOf(row)) {
    const result = expected === 'throws' ? 'a bug' : `${expected.state}, ${expected.sink}`;
    test(`${state}, ${occurrence}: ${result}`, async (t) => {
      const { watcher, sink, closed } = watching(state, planned({ timeoutMs: 60_000 }));
      if (expected === 'throws') {
        t.throws(() => {
          occurrences[occurrence](watcher, sink);
        });
        return;
      }
      occurrences[occurrence](watcher, sink);
      await nextTurn();
      t.equal(watcher.state, expected.state);
      t.equal(sink.ending !== undefined, expected.sink === 'ended');
      t.equal(sink.isCut, expected.sink === 'cut');
      t.equal(sink.written.length > 0, expected.sink === 'written');
      t.equal(closed(), expected.state === 'closed' ? 1 : 0, 'told once');
    });
  }
}

test('a watcher is disconnected past its limit, not at it', async (t) => {
  const { watcher, sink } = watching('live');
  sink.block();
  for (const unread of [half, half]) watcher.offer([unread], 0);
  t.equal(watcher.outbox.unreadBytes, watchBufferedBytesMax);
  watcher.offer([byte], 0);
  t.equal(watcher.state, 'live', 'at the bound');
  watcher.offer([byte], 0);
  t.equal(watcher.state, 'closed', 'past the bound');
  t.equal(sink.ending, undefined, 'a begun write is completed');
  sink.unblock();
  t.equal(sink.ending?.reason, 'too-slow');
  t.equal(sink.written.length, 1, 'and nothing else is sent');
});

test('a keep-alive is sent before its interval has passed in silence', async (t) => {
  const { watcher, sink } = watching('live');
  for (let now = watcherBeatMs; now <= 3 * watchKeepAliveMs; now += watcherBeatMs) watcher.beat(now, at);
  t.strictSame(sink.keepAlives, [watchKeepAliveMs, 2 * watchKeepAliveMs, 3 * watchKeepAliveMs]);
});

test('sent data postpones the keep-alive', async (t) => {
  const { watcher, sink } = watching('live');
  watcher.offer([frames], 5_000);
  for (let now = 6_000; now <= 15_000; now += watcherBeatMs) watcher.beat(now, at);
  t.strictSame(sink.keepAlives, [15_000]);
});

test("requested bookmarks have the hub's position and replace a keep-alive", async (t) => {
  const { watcher, sink } = watching('live', planned({ bookmarks: true }));
  for (let now = watcherBeatMs; now <= watchBookmarkMs; now += watcherBeatMs)
    watcher.beat(now, logPosition(BigInt(now)));
  t.strictSame(
    sink.seen.map(({ type, resourceVersion }) => [type, resourceVersion]),
    [['BOOKMARK', String(watchBookmarkMs)]],
  );
  const unasked = watching('live');
  for (let now = watcherBeatMs; now <= 60_000; now += watcherBeatMs) unasked.watcher.beat(now, at);
  t.strictSame(unasked.sink.seen, []);
});

test('a bookmark during a catch-up has its position, and none is sent within an initial state', async (t) => {
  const { watcher, sink } = watching('catching-up', planned({ bookmarks: true }));
  watcher.replay([], logPosition(9n), 0);
  watcher.beat(watchBookmarkMs, logPosition(100n));
  t.strictSame(sink.story, ['BOOKMARK -@9']);
  const initial = new RecordingSink();
  const begun = new Watcher(planned({ bookmarks: true }), initial, {
    now: 0,
    cursor: undefined,
    outboxes: new Outboxes(new FakeClock()),
    onClosed: () => undefined,
  });
  begun.beat(watchBookmarkMs, logPosition(100n));
  t.strictSame(initial.story, []);
  t.equal(initial.keepAlives.length, 1, 'but it is kept alive');
});

test('a timed end includes a bookmark for watchers that requested bookmarks', async (t) => {
  const { watcher, sink } = watching('live', planned({ bookmarks: true, timeoutMs: 3_000 }));
  for (let now = watcherBeatMs; now <= 3_000; now += watcherBeatMs) watcher.beat(now, logPosition(42n));
  t.strictSame(sink.story, ['BOOKMARK -@42']);
  t.equal(sink.ending?.reason, 'timed-out');
});
