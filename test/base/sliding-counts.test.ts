import { test } from 'tap';

import { SlidingCounts } from '../../src/base/sliding-counts.ts';

function given(): SlidingCounts {
  return new SlidingCounts({ windowMs: 100, keysMax: 3, eventsMax: 4 });
}

test('each event counts for its own time', (t) => {
  const counts = given();
  for (const at of [0, 50, 50, 99]) counts.add('a', at);
  t.strictSame(
    [99, 100, 149, 150, 198, 199].map((now) => counts.count('a', now)),
    [4, 3, 3, 1, 1, 0],
  );
  t.equal(counts.count('b', 99), 0);
  t.end();
});

test('the wait ends when fewer than the bound count', (t) => {
  const counts = given();
  for (const at of [0, 50, 60]) counts.add('a', at);
  t.strictSame(
    [1, 2, 3, 4].map((max) => counts.waitMs('a', max, 70)),
    [90, 80, 30, 0],
  );
  t.end();
});

test('a revoked count is subtracted, and only once', (t) => {
  const counts = given();
  for (const at of [0, 50]) counts.add('a', at);
  counts.takeBack('a', 50);
  counts.takeBack('a', 50);
  counts.takeBack('b', 50);
  t.equal(counts.count('a', 60), 1);
  counts.takeBack('a', 0);
  t.equal(counts.size, 0);
  t.end();
});

test('keys and their events are bounded, and the oldest are dropped first', (t) => {
  const counts = given();
  for (const at of [0, 1, 2, 3, 4]) counts.add('a', at);
  t.equal(counts.count('a', 5), 4);
  for (const [key, at] of [
    ['b', 5],
    ['c', 6],
    ['a', 7],
    ['d', 8],
  ] as const)
    counts.add(key, at);
  t.strictSame(
    ['a', 'b', 'c', 'd'].map((key) => counts.count(key, 9)),
    [4, 0, 1, 1],
  );
  counts.add('e', 107);
  t.equal(counts.size, 2, 'c and a are over');
  t.end();
});
