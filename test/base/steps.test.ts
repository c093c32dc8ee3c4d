import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { Slices, sliceMs } from '../../src/base/slices.ts';
import { atOnce, inSlices, inStrides, strideMax, type Steps } from '../../src/base/steps.ts';

function* counted(steps: number, done: { count: number }): Steps<string> {
  for (; done.count < steps; done.count += 1) yield;
  return 'done';
}

test('steps run over several turns, each as long as its slice of time', async (t) => {
  let now = 0;
  // Each look at the clock passes a millisecond.
  const slices = new Slices({
    monotonic: () => {
      now += 1;
      return now;
    },
  });
  const done = { count: 0 };
  const running = inSlices(counted(100, done), slices);
  t.ok(done.count < sliceMs, `${String(done.count)} in the first turn`);
  let turns = 0;
  for (; done.count < 100; turns += 1) await nextTurn();
  t.ok(turns >= 100 / (sliceMs + 1), `${String(turns)} turns`);
  t.equal(await running, 'done');
});

test('short steps end in the turn in which they began, and their errors are thrown', async (t) => {
  const slices = new Slices({ monotonic: () => 0 });
  const done = { count: 0 };
  const running = inSlices(counted(100, done), slices);
  t.equal(done.count, 100);
  t.equal(await running, 'done');
  t.equal(atOnce(counted(100, { count: 0 })), 'done');
  function* failing(): Steps<never> {
    yield;
    throw new Error('broken');
  }
  await t.rejects(inSlices(failing(), slices), { message: 'broken' });
});

test('strides cover every number once, with a step between two of them', (t) => {
  for (const [length, strides] of [
    [0, 0],
    [1, 1],
    [strideMax, 1],
    [strideMax + 1, 2],
    [3 * strideMax, 3],
  ] as const) {
    const parts: (readonly [number, number])[] = [];
    const steps = inStrides(length, (from, to) => {
      parts.push([from, to]);
    });
    let yielded = 0;
    while (steps.next().done !== true) yielded += 1;
    t.equal(parts.length, strides);
    t.equal(yielded, Math.max(0, strides - 1));
    t.equal(
      parts.reduce((sum, [from, to]) => sum + to - from, 0),
      length,
    );
  }
  const parts: number[] = [];
  atOnce(
    inStrides(10 * strideMax, (from) => {
      parts.push(from);
      return from < strideMax;
    }),
  );
  t.same(parts, [0, strideMax], 'until the work is over');
  t.end();
});
