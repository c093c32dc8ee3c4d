/** The event that a step follows: the last one that enqueued its key, as long as the step's work is not done. */
import { test } from 'tap';

import { reconcileRetryMsMin } from '../../reconcilers/reconcile-limits.ts';
import { again, settled, type Outcome } from '../../reconcilers/outcome.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import { turns, Stage } from './controller-stage.ts';
import { PluginReconcilersStage } from './plugin-reconcilers-stage.ts';

const event = (id: string): CausingEvent => ({ id, correlationId: `request of ${id}` });

/** The causes of all steps, in their order; each step ends as `end` says. */
function opened(end: (step: number) => Outcome = () => settled, keys: readonly string[] = []) {
  const causes: (string | undefined)[] = [];
  const stage = new Stage({
    keys,
    concurrency: 1,
    reconcile: (_key, { cause }) => {
      causes.push(cause?.id);
      return end(causes.length);
    },
  });
  stage.controller.open();
  return { stage, controller: stage.controller, causes };
}

test('a step follows the last event since the step before, and one of a list of all keys follows none', async (t) => {
  const { controller, causes } = opened(undefined, ['a']);
  await turns();
  t.strictSame(causes, [undefined], 'at the start');
  controller.enqueue('a', event('1'));
  controller.enqueue('a', event('2'));
  await turns();
  controller.enqueueAll();
  await turns();
  controller.enqueue('a', event('3'));
  controller.enqueueAll();
  await turns();
  t.strictSame(causes, [undefined, '2', undefined, '3']);
  controller.enqueueAll(() => ['a', 'b'], event('4'));
  await turns();
  t.strictSame(causes.slice(4), ['4', '4'], 'a list that an event concerns');
  await controller.stop();
});

test('a retry and a later part of the work follow the same event, or a later one', async (t) => {
  const outcomes: Outcome[] = [{ type: 'failed', error: new Error('boom') }, again(5_000)];
  const { stage, controller, causes } = opened((step) => outcomes[step - 1] ?? settled);
  controller.enqueue('a', event('1'));
  await turns();
  await stage.pass(reconcileRetryMsMin);
  t.strictSame(causes, ['1', '1']);
  controller.enqueue('a', event('2'));
  await turns();
  await stage.pass(5_000);
  t.strictSame(causes, ['1', '1', '2', '2']);
  controller.enqueue('a', event('3'));
  controller.enqueueAfter('a', 10);
  await turns();
  await stage.pass(10);
  t.strictSame(causes.slice(4), ['3', undefined], 'a key that is delayed without an event');
  await controller.stop();
});

test('an event during a step belongs to the step after it, and to what that step delays', async (t) => {
  const stage = new Stage({ concurrency: 1 });
  const { controller } = stage;
  controller.open();
  controller.enqueue('a', event('1'));
  await turns();
  controller.enqueue('a', event('2'));
  await stage.endAll(again(5_000));
  await stage.endAll();
  await stage.pass(5_000);
  t.strictSame(
    stage.begun.map(({ cause }) => cause?.id),
    ['1', '2', '2'],
  );
  await stage.endAll();
  await controller.stop();
});

test('a key that is delayed during its step keeps the later event with a shorter delay', async (t) => {
  const stage = new Stage({ concurrency: 1 });
  const { controller } = stage;
  controller.open();
  controller.enqueue('a', event('1'));
  await turns();
  controller.enqueueAfter('a', 5_000, event('2'));
  await stage.endAll(again(10));
  await stage.pass(10);
  t.strictSame(
    stage.begun.map(({ cause }) => cause?.id),
    ['1', '2'],
  );
  await stage.endAll();
  await controller.stop();
});

test('what was enqueued in an earlier term is no cause in a later one', async (t) => {
  const { stage, controller, causes } = opened(() => again(1_000), ['a']);
  await turns();
  controller.enqueue('a', event('1'));
  await turns();
  stage.lead.give(false);
  controller.enqueue('a', event('2'));
  stage.lead.give(true);
  await turns();
  t.strictSame(causes, [undefined, '1', undefined]);
  await controller.stop();
});

test("a plugin's step follows the change of its object, or of one that its reconciler watches", async (t) => {
  const stage = new PluginReconcilersStage();
  await stage.widget('w0');
  const given: string[] = [];
  await stage.mount(
    ({ name }) => {
      given.push(name);
    },
    () => ['w1'],
  );
  t.strictSame([given.splice(0), stage.causes.splice(0)], [['w0'], [undefined]], 'it was there already');
  await stage.widget('w1');
  await stage.gadget('g1', '');
  t.strictSame(given, ['w1', 'w1']);
  const [own, watched] = stage.causes;
  t.ok(own !== undefined && watched !== undefined && own.id !== watched.id);
  await stage.reconcilers.stop();
});
