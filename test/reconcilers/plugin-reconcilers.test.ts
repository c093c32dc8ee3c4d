/** Errors of a plugin's reconciler stay its own; they are logged, and shown as long as they last. */
import { test } from 'tap';

import {
  reconcileAllAfterMs,
  reconcileFailingAttempts,
  reconcileHealthReportMs,
  reconcileRetryMsMin,
  reconcileStepMs,
  reconcileStopMs,
  reconcileTraceLengthMax,
  reconcileWatchedNamesMax,
} from '../../reconcilers/reconcile-limits.ts';
import type { ReconcileRequest } from '../../src/plugin/api/public/reconciler.ts';
import { ClientError, type PluginObject } from '../../src/plugin/api/plugin.ts';
import { turns } from './controller-stage.ts';
import { PluginReconcilersStage } from './plugin-reconcilers-stage.ts';

function hostile(target: object = {}): object {
  const refuse = (): never => {
    throw Object.create(null) as Error;
  };
  return new Proxy(target, {
    get: refuse,
    has: refuse,
    getPrototypeOf: refuse,
    ownKeys: refuse,
    getOwnPropertyDescriptor: refuse,
  });
}

function raise(thrown: unknown): never {
  throw thrown;
}

/** Each fails its step, once for each try. */
const failing: Readonly<Record<string, () => unknown>> = {
  throws: () => raise(new Error('boom')),
  'throws nothing': () => raise(undefined),
  'throws a value without a text': () => raise(Object.create(null)),
  'throws a hostile error': () => raise(hostile(new Error('boom'))),
  'throws a text without end': () => raise('x'.repeat(10_000_000)),
  rejects: async () => Promise.reject(new Error('boom')),
  'rejects with a value without a text': async () => Promise.reject(Object.create(null) as Error),
  'answers text': () => 'settled',
  'answers an array': () => [],
  'answers a function': () => () => undefined,
  'answers another word': () => ({ type: 'sideways' }),
  'answers no time': () => ({ type: 'again' }),
  'answers a time that is none': () => ({ type: 'again', afterMs: Number.NaN }),
  'answers a time before now': () => ({ type: 'again', afterMs: -1 }),
  'answers a hostile proxy': () => hostile(),
  'resolves with a hostile proxy': () =>
    new Promise((resolve) => {
      resolve(new Proxy({}, { get: (_target, name) => (name === 'then' ? undefined : raise(Object.create(null))) }));
    }),
  'answers a thenable that throws': () => ({
    get then() {
      return raise(Object.create(null));
    },
  }),
  'answers a thenable that fails, then succeeds, then fails': () => ({
    then: (done: (value: unknown) => void, failed: (error: unknown) => void) => {
      failed(Object.create(null));
      done(undefined);
      failed(2);
    },
  }),
  'answers a promise that says it failed in its own way': () =>
    Object.assign(Promise.resolve(), {
      then: (_done: unknown, failed: (error: unknown) => void) => {
        failed('own');
      },
    }),
};

for (const [act, reconcile] of Object.entries(failing)) {
  test(`a step that ${act} fails, is logged and retried, and is shown after repeated failures`, async (t) => {
    const stage = new PluginReconcilersStage();
    let steps = 0;
    let isMended = false;
    await stage.widget('a');
    await stage.widget('well');
    const seen: string[] = [];
    await stage.mount(({ name }: ReconcileRequest) => {
      seen.push(name);
      if (name !== 'a' || isMended) return undefined;
      steps += 1;
      return reconcile();
    });
    t.equal(steps, 1);
    t.ok(seen.includes('well'), 'others are looked at');
    for (let waitMs = reconcileRetryMsMin; steps < reconcileFailingAttempts - 1; waitMs *= 2) await stage.pass(waitMs);
    t.strictSame(stage.conditions, [], 'not yet');
    await stage.pass(reconcileRetryMsMin * 2 ** (reconcileFailingAttempts - 2));
    t.equal(steps, reconcileFailingAttempts, 'one step a try');
    t.strictSame(stage.conditions, ['ReconcilerFailing']);
    await stage.pass(reconcileHealthReportMs);
    t.ok(stage.reports.length > 0, 'the status is notified');
    t.strictSame(
      stage.lines.filter(({ fields: { name } }) => name === 'a').map(({ fields: { attempts } }) => attempts),
      [1, 2, 4, 8],
    );
    for (const { fields } of stage.lines)
      t.ok(JSON.stringify(fields).length < reconcileTraceLengthMax + 500, 'no line without end');
    isMended = true;
    await stage.pass(3_600_000, 30_000);
    t.strictSame(stage.conditions, [], 'well again');
    t.equal(stage.reports.length, 2);
    await stage.reconcilers.stop();
    t.equal(stage.clock.timers, 0);
  });
}

test('a step with a write conflict is retried, and is an error only if the conflict repeats', async (t) => {
  const stage = new PluginReconcilersStage();
  await stage.widget('a');
  let conflicts = 2;
  await stage.mount(() => {
    conflicts -= 1;
    if (conflicts >= 0) throw new ClientError('it changed', { reason: 'Conflict', status: 409 });
    return undefined;
  });
  t.strictSame(
    stage.lines.map(({ level }) => level),
    ['debug'],
  );
  await stage.pass(reconcileRetryMsMin);
  t.strictSame(
    stage.lines.map(({ level }) => level),
    ['debug', 'error'],
  );
  await stage.pass(reconcileRetryMsMin * 2);
  t.equal(conflicts, -1, 'the third try succeeds');
  await stage.reconcilers.stop();
});

const settling: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  'more than is asked': () => ({ type: 'settled', more: 1 }),
  'a thenable that calls back twice': () => ({
    then: (done: (value: unknown) => void) => {
      done({ type: 'settled' });
      done({ type: 'again', afterMs: 10 });
    },
  }),
  'a promise with a then that returns something else': () =>
    Object.assign(Promise.resolve(), {
      then: (done: (value: unknown) => void) => {
        done(undefined);
        return 7;
      },
    }),
};

test('a step settles once', async (t) => {
  for (const [act, reconcile] of Object.entries(settling)) {
    const stage = new PluginReconcilersStage();
    let steps = 0;
    await stage.widget('a');
    await stage.mount(() => {
      steps += 1;
      return reconcile();
    });
    await stage.pass(60_000, 10_000);
    t.equal(steps, 1, act);
    t.strictSame(stage.lines, [], act);
    await stage.widget('a', 'changed');
    t.equal(steps, 2, `${act}: and then it is looked at again`);
    await stage.reconcilers.stop();
  }
});

test('an endless step is shown and blocks its own name only, and the condition is removed once it ends', async (t) => {
  const stage = new PluginReconcilersStage();
  const ends: (() => void)[] = [];
  const seen: string[] = [];
  await stage.widget('hangs');
  await stage.mount(({ name }) => {
    seen.push(name);
    return name === 'hangs'
      ? new Promise<void>((resolve) => {
          ends.push(resolve);
        })
      : undefined;
  });
  await stage.pass(reconcileStepMs - 1);
  t.strictSame(stage.conditions, []);
  await stage.pass(1);
  t.strictSame(stage.conditions, ['ReconcilerStuck']);
  t.match(stage.reconcilers.health('shop')[0]?.message, /^the step for hangs has not ended within 60 s$/u);
  await stage.pass(reconcileHealthReportMs);
  t.equal(stage.reports.length, 1);
  await stage.widget('hangs', 'changed');
  await stage.widget('other');
  t.strictSame(seen, ['hangs', 'other']);
  ends[0]?.();
  await turns();
  await stage.pass(reconcileHealthReportMs);
  t.strictSame(seen, ['hangs', 'other', 'hangs'], 'the change is looked at');
  t.strictSame(stage.conditions, []);
  t.equal(stage.reports.length, 2);
  await Promise.all([stage.reconcilers.stop(), stage.pass(reconcileStopMs)]);
  t.match(
    stage.lines.filter(({ level }) => level === 'error'),
    [
      { message: 'a reconciler exceeds its time limit', fields: { name: 'hangs', limitMs: reconcileStepMs } },
      { message: 'a reconciler did not stop in time', fields: { name: 'hangs', limitMs: reconcileStopMs } },
    ],
  );
});

test('a failure shows its place in the plugin', async (t) => {
  const stage = new PluginReconcilersStage();
  await stage.widget('a');
  const stack = 'Error: boom\n    at now (node:fs:1:1)\n    at reconcile (file:///plugins/shop/lib/shop.mjs?v=1:7:3)';
  await stage.mount(() => raise(Object.assign(new Error('boom'), { stack })));
  await stage.pass(10_000, 10);
  t.strictSame(stage.messages, ['the step for a fails: Error: boom (at lib/shop.mjs:7)']);
  await stage.reconcilers.stop();
});

test('a failure of an earlier leadership is no longer shown', async (t) => {
  const stage = new PluginReconcilersStage();
  let isBroken = true;
  await stage.widget('a');
  await stage.mount(() => {
    if (isBroken) throw new Error('boom');
  });
  await stage.pass(10_000, 10);
  t.strictSame(stage.conditions, ['ReconcilerFailing']);
  isBroken = false;
  stage.lead.give(false);
  stage.lead.give(true);
  await stage.pass(60_000, 10_000);
  t.strictSame(stage.conditions, []);
  await stage.reconcilers.stop();
});

/** Results of a watch's function for a change; none of them names an object. */
const rubbish: Readonly<Record<string, (object: PluginObject) => unknown>> = {
  throws: () => raise(new Error('no shop')),
  'throws a hostile error': () => raise(hostile(new Error('boom'))),
  'answers nothing': () => undefined,
  'answers text': () => 'a',
  'answers a promise': async () => Promise.resolve(['a']),
  'answers a name that is none': () => [undefined],
  'answers too many': () => Array.from({ length: reconcileWatchedNamesMax + 1 }, (_, index) => `n${String(index)}`),
  'answers a hostile proxy': () => hostile(['a']),
};

for (const [act, names] of Object.entries(rubbish)) {
  test(`a change of a watched object is not lost when names ${act}`, async (t) => {
    const stage = new PluginReconcilersStage();
    let seen: string[] = [];
    for (const name of ['a', 'b', 'c']) await stage.widget(name);
    await stage.mount(({ name }) => {
      seen.push(name);
    }, names);
    seen = [];
    for (let change = 0; change < 50; change += 1) await stage.gadget('g', String(change));
    t.strictSame(seen, [], 'it names no object');
    t.match(stage.lines[0], {
      message: 'could not compute the names that a change affects: all names are reconciled',
      fields: { changed: 'g' },
    });
    await stage.pass(reconcileAllAfterMs);
    t.strictSame(seen.sort(), ['a', 'b', 'c'], 'so all are looked at, once for all those changes');
    seen = [];
    await stage.pass(60_000, 1_000);
    t.strictSame(seen, [], 'and once only');
    await stage.gadget('g', 'last');
    await stage.reconcilers.stop();
    t.equal(stage.clock.timers, 0, 'a stop waits for none of it');
  });
}

test('impossible names, and iterables that misbehave, reach no step', async (t) => {
  const stage = new PluginReconcilersStage();
  let seen: string[] = [];
  await stage.widget('a');
  await stage.mount(
    ({ name }) => {
      seen.push(name);
    },
    () =>
      Object.assign(['a', '', 'A b', '../x', 'x'.repeat(10_000), 'gone'], {
        *[Symbol.iterator]() {
          for (;;) yield 'a';
        },
      }),
  );
  seen = [];
  await stage.gadget('g', 'one');
  t.strictSame(seen, ['a', 'gone']);
  t.strictSame(stage.lines, []);
  await stage.reconcilers.stop();
});

test('a step aborted at a stop cannot write any more, and the next load reconciles its name', async (t) => {
  const stage = new PluginReconcilersStage();
  const signals: AbortSignal[] = [];
  await stage.widget('a');
  await stage.mount(({ signal }) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  const seen: string[] = [];
  await stage.mount(({ name }) => {
    seen.push(name);
  });
  t.equal(signals[0]?.aborted, true);
  t.equal(stage.over[0]?.(), false, 'it has a moment to end');
  t.strictSame(seen, [], 'and as long nobody else looks');
  await stage.pass(reconcileStopMs);
  t.equal(stage.over[0]?.(), true);
  t.strictSame(seen, ['a']);
  t.equal(stage.over[1]?.(), false);
  await stage.reconcilers.stop();
});
