/** A stopped plugin's types have no indexes: a scan of their objects waits until they are served again. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { reconcileTurnStepsMax } from '../../reconcilers/reconcile-limits.ts';
import { widgets } from '../support/given.ts';
import { OwnersStage } from './platform/owners-stage.ts';

test('a type that is stopped during a scan is left alone until it is served', async (t) => {
  const stage = await OwnersStage.open(t);
  const names = Array.from({ length: reconcileTurnStepsMax * 2 }, (_, index) => `w${String(index)}`);
  await Promise.all(names.map(async (name) => stage.create(name)));
  const [marked] = names;
  await stage.delete(marked ?? '');
  stage.models.dropIndexes(widgets.key);
  const built = stage.models.buildIndexes(widgets);
  stage.serving = [];
  await stage.lead();
  t.strictSame(stage.errors, [], 'an unserved type is not read');
  await built;
  const leading = stage.serve(widgets);
  // In the middle of it.
  await nextTurn();
  stage.serving = [];
  stage.models.dropIndexes(widgets.key);
  let reads = 0;
  const get = stage.models.get.bind(stage.models);
  stage.models.get = (type, name) => {
    reads += 1;
    return get(type, name);
  };
  const builtAgain = stage.models.buildIndexes(widgets);
  for (let turn = 0; turn < 64; turn += 1) {
    await nextTurn();
    stage.clock.advance(1_000);
  }
  t.strictSame(stage.errors, [], 'nor is a type stopped meanwhile, any number of times');
  await Promise.all([leading, builtAgain]);
  t.equal(reads, 0, 'it is looked through no further');
  await stage.serve(widgets);
  await stage.settle();
  t.strictSame(stage.errors, []);
  t.notOk(stage.object(marked ?? ''), 'an object marked before is removed');
});
