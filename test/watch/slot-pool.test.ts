import { setImmediate as nextTurn } from 'node:timers/promises';

import { test } from 'tap';

import { SlotPool } from '../../src/watch/slot-pool.ts';

/** Tasks that the test ends; `begun` holds their names in the order in which they got a slot. */
function given(places: number) {
  const shared = new SlotPool(places);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (account: string, name: string): Promise<void> =>
    shared.run(account, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => {
        ends.push(resolve);
      });
    });
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await nextTurn();
  };
  return { shared, begun, add, endOne };
}

test('an account with many tasks delays another account by one slot', async (t) => {
  const { shared, begun, add, endOne } = given(2);
  const tasks = Array.from({ length: 50 }, (_, index) => add('jane', `jane ${String(index)}`));
  await nextTurn();
  t.same(begun, ['jane 0', 'jane 1']);
  tasks.push(add('bob', 'bob 0'), add('bob', 'bob 1'), add('eve', 'eve 0'));
  t.ok(shared.isCrowded);
  for (let ended = 0; ended < 5; ended += 1) await endOne();
  t.same(begun.slice(2), ['jane 2', 'bob 0', 'eve 0', 'jane 3', 'bob 1']);
  for (let ended = 0; ended < tasks.length; ended += 1) await endOne();
  await Promise.all(tasks);
  t.equal(begun.length, 53);
  t.notOk(shared.isCrowded);
});

test('a task that fails releases its slot', async (t) => {
  const { shared, begun, add, endOne } = given(1);
  for (let failed = 0; failed < 3; failed += 1) {
    await t.rejects(
      shared.run('jane', () => Promise.reject(new Error('boom'))),
      { message: 'boom' },
    );
  }
  const last = add('jane', 'last');
  await nextTurn();
  t.same(begun, ['last']);
  await endOne();
  await last;
});
