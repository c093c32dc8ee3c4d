import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { EventLoopTurns } from '../../src/base/event-loop-turns.ts';
import { ToilingClock } from '../support/clocks/toiling-clock.ts';

const turnMs = 4;
/** Each look at the clock takes as long as a turn may. */
const long = (): EventLoopTurns => {
  const clock = new ToilingClock();
  clock.lookMs = turnMs;
  return new EventLoopTurns(clock, turnMs);
};

test('short work is done at once while its turn has time, and else one piece a turn', async (t) => {
  const turns = long();
  const done: string[] = [];
  const begin = async (what: string): Promise<void> => {
    await turns.soon(what);
    done.push(what);
  };
  const all = Promise.all(['a', 'b', 'c'].map(begin));
  await Promise.resolve();
  t.strictSame(done, ['a']);
  await nextTurn();
  t.strictSame(done, ['a', 'b']);
  t.notSame(turns.soon('d'), undefined, 'a later caller does not overtake');
  await all;
  t.strictSame(done, ['a', 'b', 'c']);
});

test('a turn that nobody has used has time again', async (t) => {
  const turns = long();
  t.equal(turns.soon('a'), undefined);
  await nextTurn();
  t.equal(turns.soon('a'), undefined);
});

test('many waiting callers of one account delay the next of another by one place', async (t) => {
  const turns = long();
  const done: string[] = [];
  await Promise.all(
    ['a', 'a', 'a', 'b'].map(async (account) => {
      await turns.next(account);
      done.push(account);
    }),
  );
  t.strictSame(done, ['a', 'b', 'a', 'a']);
});
