/** A plugin's own `stop` blocks nothing: its error or timeout is reported, and the rest of the stop continues. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { test } from 'tap';

import { Incarnation, type IncarnationDependencies, type Loaded } from '../../../src/plugin/lifecycle/incarnation.ts';
import { pluginStopMs } from '../../../src/plugin/lifecycle/life-limits.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';

function raise(thrown: unknown): never {
  throw thrown;
}

const failing: Readonly<Record<string, () => unknown>> = {
  throws: () => raise(new Error('boom')),
  'throws nothing': () => raise(undefined),
  'throws a value without a text': () => raise(Object.create(null)),
  rejects: async () => Promise.reject(Object.create(null) as Error),
  'answers a thenable that throws': () => ({
    get then() {
      return raise(Object.create(null));
    },
  }),
  'throws a hostile error': () =>
    raise(new Proxy(new Error(), { get: () => raise(1), getPrototypeOf: () => raise(1) })),
};

function stopping(stop: () => unknown): {
  readonly clock: FakeClock;
  readonly lines: string[];
  readonly ended: Promise<void>;
} {
  const clock = new FakeClock();
  const lines: string[] = [];
  const note = (message: string): void => {
    lines.push(message);
  };
  const is = { plugin: 'bad', loaded: { definition: { stop } } } as unknown as Loaded;
  const incarnation = new Incarnation(is, {
    clock,
    reportLeftListeners: () => undefined,
    log: { debug: note, info: note, warn: note, error: note },
  } as unknown as IncarnationDependencies);
  return { clock, lines, ended: incarnation.end() };
}

test('an error in stop is reported, and changes nothing', async (t) => {
  for (const [act, stop] of Object.entries(failing)) {
    const { clock, lines, ended } = stopping(stop);
    await ended;
    t.strictSame(lines, ['the stop function of a plugin threw an error; the plugin stops nevertheless'], act);
    t.equal(clock.timers, 0, act);
  }
  const { lines, ended } = stopping(() => 7);
  await ended;
  t.strictSame(lines, []);
});

test('a stop that never ends times out at the limit, and not before', async (t) => {
  const { clock, lines, ended } = stopping(() => new Promise(() => undefined));
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
  });
  clock.advance(pluginStopMs - 1);
  await nextTurn();
  t.notOk(isEnded);
  clock.advance(1);
  await ended;
  t.strictSame(lines, ['the stop function of a plugin did not return in time; the plugin stops nevertheless']);
});
