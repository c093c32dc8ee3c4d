import { test } from 'tap';

import { visitor } from '../../../src/command/subject.ts';
import { decodeWatchQuery } from '../../../src/http/watch/decode-watch-query.ts';
import { problems } from '../../../src/http/problem.ts';
import { watchTimeoutSecondsMax } from '../../../src/limits/watches.ts';
import type { WatchPlan } from '../../../src/watch/watch-plan.ts';
import { widgetType } from '../../support/watched-type.ts';

function decoded(query: string, resumed?: string): WatchPlan | number {
  const plan = decodeWatchQuery(
    { type: widgetType(), query: new URLSearchParams(query), subject: visitor, address: '127.0.0.1', requestId: 'r' },
    resumed,
  );
  return plan.ok ? plan.value : problems[plan.problem.reason].status;
}

const initial = { kind: 'state', notBefore: undefined, marksEnd: false } as const;
const list = 'resourceVersionMatch=NotOlderThan';

/** Where each query begins, or the status it is refused with. */
const starts: Readonly<Record<string, WatchPlan['start'] | number>> = {
  '': initial,
  'resourceVersion=': initial,
  'resourceVersion=0': initial,
  'resourceVersion=7': { kind: 'after', position: 7n as never },
  'resourceVersion=99999999999999999999': { kind: 'after', position: 99_999_999_999_999_999_999n as never },
  'resourceVersion=9999999999999999999999999': 400,
  'resourceVersion=seven': 400,
  'resourceVersion=-1': 400,
  'resourceVersion=1.5': 400,
  'resourceVersion=0x10': 400,
  'resourceVersion=%201': 400,
  [`sendInitialEvents=true&${list}`]: { kind: 'state', notBefore: undefined, marksEnd: true },
  [`sendInitialEvents=true&${list}&resourceVersion=0`]: { kind: 'state', notBefore: undefined, marksEnd: true },
  [`sendInitialEvents=true&${list}&resourceVersion=7`]: { kind: 'state', notBefore: 7n as never, marksEnd: true },
  [`sendInitialEvents=false&${list}`]: { kind: 'now' },
  [`sendInitialEvents=false&${list}&resourceVersion=7`]: { kind: 'after', position: 7n as never },
  'sendInitialEvents=true': 422,
  'sendInitialEvents=false': 422,
  'sendInitialEvents=true&resourceVersionMatch=Exact': 422,
  [list]: 422,
  [`sendInitialEvents=perhaps&${list}`]: 400,
};

for (const [query, expected] of Object.entries(starts)) {
  test(`?${query}`, async (t) => {
    const plan = decoded(query);
    t.strictSame(typeof plan === 'number' ? plan : plan.start, expected);
  });
}

test('a reconnecting event source continues after its last id', async (t) => {
  t.match(decoded(`sendInitialEvents=true&${list}`, '12'), { start: { kind: 'after', position: 12n } });
  t.match(decoded('resourceVersion=3', '12'), { start: { kind: 'after', position: 12n } });
  t.match(decoded('resourceVersion=3', ''), { start: { kind: 'after', position: 3n } });
  t.equal(decoded('', 'twelve'), 400);
});

test('bookmarks are sent on request only', async (t) => {
  for (const [query, bookmarks] of [
    ['', false],
    ['allowWatchBookmarks=true', true],
    ['allowWatchBookmarks=1', true],
    ['allowWatchBookmarks=false', false],
  ] as const) {
    t.match(decoded(query), { bookmarks }, query);
  }
  t.equal(decoded('allowWatchBookmarks=maybe'), 400);
});

test('timeoutSeconds is bounded, and 0 means no timeout', async (t) => {
  t.match(decoded('timeoutSeconds=30'), { timeoutMs: 30_000 });
  t.match(decoded('timeoutSeconds=0'), { timeoutMs: undefined });
  t.match(decoded(`timeoutSeconds=${String(watchTimeoutSecondsMax)}`), { timeoutMs: watchTimeoutSecondsMax * 1_000 });
  t.match(decoded(`timeoutSeconds=${String(watchTimeoutSecondsMax + 1)}`), {
    timeoutMs: watchTimeoutSecondsMax * 1_000,
  });
  t.equal(decoded('timeoutSeconds=-1'), 400);
  t.equal(decoded('timeoutSeconds=soon'), 400);
});

test('selectors are parsed as in lists', async (t) => {
  t.match(decoded('labelSelector=app%3Dx&fieldSelector=spec.size%3E%3D5'), {
    selection: { labels: [{ key: 'app', values: ['x'] }], fields: [{ operator: '>=', key: 5 }] },
  });
  t.equal(decoded('labelSelector=app%3D%3D%3D'), 400);
  t.equal(decoded('fieldSelector=spec.color%3Dred'), 400, 'no such index');
});
