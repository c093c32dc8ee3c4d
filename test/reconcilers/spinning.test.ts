/** Names that a reconciler rewrites again and again, or requests again without a delay, are slowed down. */
import { test } from 'tap';

import { reconcileImmediateMax, reconcileRewritesMax, reconcileSpinMs } from '../../reconcilers/reconcile-limits.ts';
import type { ReconcileRequest } from '../../src/plugin/api/public/reconciler.ts';
import { turns } from './controller-stage.ts';
import { PluginReconcilersStage, typeOf, type Mounted } from './plugin-reconcilers-stage.ts';

const widgets = typeOf('widgets');
const gadgets = typeOf('gadgets');

/** Counts the writes by name. */
class Writes {
  readonly counts = new Map<string, number>();

  async patch(
    { pluginClient }: Pick<ReconcileRequest, 'pluginClient'>,
    name: string,
    text: string,
    type = widgets,
  ): Promise<void> {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    await pluginClient.patch(type, name, { spec: { text } });
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }
}

/** Waits until no more steps run without an advance of the clock. */
async function settled(stage: PluginReconcilersStage): Promise<void> {
  for (let steps = -1; steps !== stage.causes.length;) {
    steps = stage.causes.length;
    await stage.reconcilers.idle();
    await turns(8);
  }
}

function textOf({ object }: ReconcileRequest): string {
  const text = object?.spec['text'];
  return typeof text === 'string' ? text : '';
}

test('a name that its reconciler rewrites after each of its own writes is written once a minute', async (t) => {
  const stage = new PluginReconcilersStage();
  const writes = new Writes();
  await stage.widget('a');
  await stage.widget('b');
  await stage.mount(async (request) => {
    if (request.name === 'a') await writes.patch(request, 'a', `${textOf(request)}x`);
  });
  await settled(stage);
  t.equal(writes.of('a'), reconcileRewritesMax + 1, 'the first write was caused by no other');
  t.strictSame(stage.conditions, ['ReconcilerSpinning']);
  t.match(stage.messages, [
    'the step for a rewrites widgets.example.com/a after each of its own writes, which changes /spec/text: ' +
      'its steps now run once a minute',
  ]);
  t.match(stage.lines, [
    { level: 'error', message: 'a reconciler spins', fields: { reconciler: 'widgets', name: 'a' } },
  ]);
  for (let minute = 1; minute <= 3; minute += 1) {
    await stage.pass(reconcileSpinMs - 1);
    t.equal(writes.of('a'), reconcileRewritesMax + minute);
    await stage.pass(1);
    await settled(stage);
    t.equal(writes.of('a'), reconcileRewritesMax + 1 + minute);
  }
  t.equal(stage.lines.length, 1);
  await stage.reconcilers.stop();
});

test("a user's edit of a spinning name is reconciled at once, and the name stays slowed down", async (t) => {
  const stage = new PluginReconcilersStage();
  const writes = new Writes();
  await stage.widget('a');
  await stage.mount(async (request) => {
    if (textOf(request) !== 'stop') await writes.patch(request, 'a', 'x');
  });
  await settled(stage);
  const before = writes.of('a');
  await stage.widget('a', 'edited');
  await settled(stage);
  t.equal(writes.of('a'), before + 1);
  t.strictSame(stage.conditions, ['ReconcilerSpinning']);
  await stage.widget('a', 'stop');
  await settled(stage);
  t.strictSame(stage.conditions, [], 'a step without a write ends the circle');
  await stage.widget('a', 'edited');
  await settled(stage);
  t.equal(writes.of('a'), before + 1 + reconcileRewritesMax + 1, 'it is counted from the beginning');
  await stage.reconcilers.stop();
});

test('edits of users are not counted', async (t) => {
  const stage = new PluginReconcilersStage();
  const writes = new Writes();
  await stage.widget('a');
  await stage.mount(async (request) => {
    if (textOf(request) !== 'done') await writes.patch(request, 'a', 'done');
  });
  for (let edit = 0; edit < reconcileRewritesMax * 2; edit += 1) {
    await stage.widget('a', 'edited');
    await settled(stage);
  }
  t.equal(writes.of('a'), 1 + reconcileRewritesMax * 2);
  t.strictSame(stage.conditions, []);
  await stage.reconcilers.stop();
});

test('progress that is written at a requested time is not slowed down', async (t) => {
  const stage = new PluginReconcilersStage();
  const writes = new Writes();
  let written = '';
  await stage.widget('a');
  await stage.mount(async (request) => {
    const text = String(stage.clock.monotonic());
    if (text === written) return { type: 'again', afterMs: 1_000 };
    written = text;
    await writes.patch(request, 'a', text);
    return undefined;
  });
  await settled(stage);
  for (let second = 0; second < reconcileRewritesMax * 2; second += 1) {
    await stage.pass(1_000);
    await settled(stage);
  }
  t.equal(writes.of('a'), 1 + reconcileRewritesMax * 2);
  t.strictSame(stage.conditions, []);
  await stage.reconcilers.stop();
});

test('two reconcilers that rewrite one object in turn are slowed down', async (t) => {
  const stage = new PluginReconcilersStage();
  const writes = new Writes();
  const wants = (text: string): Mounted => ({
    reconcile: async (request) => {
      if (textOf(request) !== text) await writes.patch(request, 'a', text);
    },
  });
  await stage.widget('a');
  await stage.mountAll({ red: wants('red'), blue: wants('blue') });
  await settled(stage);
  const before = writes.of('a');
  t.ok(before <= 2 * reconcileRewritesMax + 4, String(before));
  t.match(
    stage.messages.join(),
    /rewrites widgets\.example\.com\/a in turn with (red|blue), which changes \/spec\/text/u,
  );
  for (let minute = 0; minute < 10; minute += 1) {
    await stage.pass(reconcileSpinMs);
    await settled(stage);
  }
  t.ok(writes.of('a') <= before + 10, `${String(writes.of('a') - before)} writes in 10 minutes`);
  t.ok(stage.conditions.includes('ReconcilerSpinning'));
  await stage.reconcilers.stop();
});

test('a circle over objects of two types is slowed down', async (t) => {
  const stage = new PluginReconcilersStage();
  const writes = new Writes();
  await stage.gadget('g', '');
  await stage.widget('w');
  await stage.mountAll({
    widgets: { reconcile: async (request) => writes.patch(request, 'g', `${textOf(request)}x`, gadgets) },
    gadgets: { plural: 'gadgets', reconcile: async (request) => writes.patch(request, 'w', `${textOf(request)}x`) },
  });
  await settled(stage);
  const before = writes.of('w');
  t.ok(before <= reconcileRewritesMax * 2 + 4, String(before));
  await stage.pass(10 * reconcileSpinMs, reconcileSpinMs);
  await settled(stage);
  t.ok(writes.of('w') <= before + 20, `${String(writes.of('w') - before)} writes in 10 minutes`);
  t.ok(stage.conditions.includes('ReconcilerSpinning'));
  await stage.reconcilers.stop();
});

test('an object that counts changes of many others is not slowed down', async (t) => {
  const stage = new PluginReconcilersStage();
  const writes = new Writes();
  const ready = new Set<string>();
  await stage.widget('parent');
  const names = Array.from({ length: reconcileRewritesMax * 2 }, (_, index) => `g${String(index)}`);
  for (const name of names) await stage.gadget(name, '');
  await stage.mountAll({
    gadgets: {
      plural: 'gadgets',
      reconcile: async (request) => {
        if (textOf(request) === 'ready') return;
        await writes.patch(request, request.name, 'ready', gadgets);
        ready.add(request.name);
      },
    },
    widgets: {
      names: () => ['parent'],
      reconcile: async (request) => {
        const count = String(ready.size);
        if (textOf(request) !== count) await writes.patch(request, 'parent', count);
      },
    },
  });
  await settled(stage);
  t.strictSame(stage.conditions, []);
  t.equal(ready.size, names.length);
  await stage.reconcilers.stop();
});

for (const afterMs of [0, 50]) {
  test(`a name that requests a step after ${String(afterMs)} ms again and again runs once a minute`, async (t) => {
    const stage = new PluginReconcilersStage();
    let steps = 0;
    let isReady = false;
    await stage.widget('a');
    await stage.mount(() => {
      steps += 1;
      return isReady ? undefined : { type: 'again', afterMs };
    });
    await stage.pass(reconcileSpinMs - 1_000, 10);
    t.equal(steps, reconcileImmediateMax + 1);
    t.strictSame(stage.conditions, ['ReconcilerSpinning']);
    t.match(stage.messages, [
      'the step for a requests another step immediately, again and again: its steps now run once a minute',
    ]);
    await stage.pass(2 * reconcileSpinMs, 1_000);
    t.equal(steps, reconcileImmediateMax + 3);
    isReady = true;
    await stage.pass(reconcileSpinMs);
    t.strictSame(stage.conditions, []);
    await stage.reconcilers.stop();
  });
}

test('steps that users cause, and delays that are not immediate, are not counted as requests', async (t) => {
  const stage = new PluginReconcilersStage();
  let steps = 0;
  await stage.widget('a');
  await stage.mount(() => {
    steps += 1;
    return { type: 'again', afterMs: steps % 2 === 0 ? 1_000 : 0 };
  });
  await stage.pass(1_000 * reconcileImmediateMax * 2, 500);
  t.ok(steps > reconcileImmediateMax * 2);
  t.strictSame(stage.conditions, []);
  await stage.reconcilers.stop();
});
