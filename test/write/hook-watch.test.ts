import { test } from 'tap';

import { hookMs, slowHookLogMs } from '../../src/limits/rules.ts';
import { WatchedHooks } from '../../src/write/hook-watch.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { widgets, widgetType } from '../support/sample.ts';

function watched() {
  const clock = new FakeClock();
  const lines: (readonly [string, string, Readonly<Record<string, unknown>>])[] = [];
  const hooks = new WatchedHooks({ clock, warn: (...line) => lines.push(line) });
  const run = (ms: number): unknown =>
    hooks.run(widgets, 'validate', () => {
      clock.advance(ms);
      return 'result';
    });
  return { clock, lines, hooks, run };
}

test('a hook over its time is counted, and logged once a minute', async (t) => {
  const { clock, lines, hooks, run } = watched();
  t.equal(run(hookMs), 'result');
  t.strictSame(hooks.counts(), []);
  run(hookMs + 1);
  run(hookMs + 1);
  t.equal(lines.length, 1);
  t.match(lines[0], ['example', /took too long/, { type: 'widgets.example.com', hook: 'validate', ms: hookMs + 1 }]);
  clock.advance(slowHookLogMs);
  run(hookMs + 1);
  t.equal(lines.length, 2);
  t.strictSame(hooks.counts(), [
    { plugin: 'example', type: 'widgets.example.com', hook: 'validate', slow: 3, failed: 0 },
  ]);
});

test('a hook that throws is measured as well', async (t) => {
  const { clock, hooks } = watched();
  t.throws(() =>
    hooks.run(widgets, 'default', () => {
      clock.advance(hookMs + 1);
      throw new Error('boom');
    }),
  );
  t.match(hooks.counts(), [{ hook: 'default', slow: 1 }]);
});

test('the first failure of a type is logged, each is counted, and a reloaded plugin starts again', async (t) => {
  const { lines, hooks } = watched();
  hooks.failed(widgets, 'default', { problem: 'threw: boom', thrown: new Error('boom') });
  hooks.failed(widgets, 'validate', { problem: 'threw: boom' });
  t.equal(lines.length, 1);
  t.match(lines[0], [
    'example',
    /a hook of a type fails/,
    { hook: 'default', problem: 'threw: boom', stack: /Error: boom/ },
  ]);
  hooks.failed(widgetType(), 'default', { problem: 'threw: again' });
  t.equal(lines.length, 2);
  t.strictSame(
    hooks.counts().map(({ hook, failed }) => [hook, failed]),
    [
      ['default', 2],
      ['validate', 1],
    ],
  );
});
