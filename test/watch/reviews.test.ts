import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { Reviews, type Reviewed } from '../../src/watch/reviews.ts';
import { Slices } from '../../src/watch/slices.ts';
import { ToilingClock } from '../support/clocks/toiling-clock.ts';

const turnMs = 4;

class Item implements Reviewed {
  readonly name: number;
  isHeld = false;
  readonly verdicts: boolean[] = [];

  constructor(name: number) {
    this.name = name;
  }

  hold(): void {
    this.isHeld = true;
  }

  applyVerdict(isAllowed: boolean): void {
    this.isHeld = false;
    this.verdicts.push(isAllowed);
  }
}

function given(count: number) {
  const clock = new ToilingClock();
  const reviews = new Reviews<Item>(new Slices(clock, turnMs));
  return { clock, reviews, items: Array.from({ length: count }, (_, index) => new Item(index)) };
}

test('a few watches are reviewed in the turn of the change', (t) => {
  const { reviews, items } = given(3);
  reviews.begin(items, ({ name }) => name !== 1);
  t.strictSame(
    items.map(({ verdicts }) => verdicts),
    [[true], [false], [true]],
  );
  t.notOk(items.some(({ isHeld }) => isHeld));
  t.end();
});

test('many watches are held in the turn of the change, and reviewed in many turns', async (t) => {
  const { clock, reviews, items } = given(100);
  clock.lookMs = 1;
  reviews.begin(items, () => true);
  const held = (): number => items.filter(({ isHeld }) => isHeld).length;
  t.equal(held(), items.length - turnMs);
  for (let before = held(); before > 0; before = held()) {
    await nextTurn();
    t.ok(before - held() <= turnMs);
  }
  t.ok(
    items.every(({ verdicts }) => verdicts.join() === 'true'),
    'each once',
  );
});

test('a change during reviews restarts all with the newest rights, waiting ones first', async (t) => {
  const { clock, reviews, items } = given(20);
  clock.lookMs = 1;
  reviews.begin(items, () => true);
  const asked: number[] = [];
  reviews.begin(items, ({ name }) => {
    asked.push(name);
    return name % 2 === 0;
  });
  t.ok(
    items.every(({ isHeld }) => isHeld),
    'watches that had passed are held again',
  );
  while (items.some(({ isHeld }) => isHeld)) await nextTurn();
  t.strictSame(
    asked,
    [...items.slice(turnMs), ...items.slice(0, turnMs)].map(({ name }) => name),
  );
  t.ok(items.every(({ name, verdicts }) => verdicts.at(-1) === (name % 2 === 0)));
});

test('changes in every turn do not delay a review without end', async (t) => {
  const { clock, reviews, items } = given(40);
  clock.lookMs = 1;
  let turns = 0;
  for (; items.some(({ verdicts }) => verdicts.length === 0); turns += 1) {
    reviews.begin(items, () => true);
    await nextTurn();
    if (turns > items.length) throw new Error('some are never asked about');
  }
  t.ok(
    items.every(({ verdicts }) => verdicts.length <= 2),
    `after ${String(turns)} changes`,
  );
});
