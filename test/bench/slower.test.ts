import { test } from 'tap';

import { isSlower, slowerRounds } from '../../bench/compare/slower.ts';
import { isMet, type Result } from '../../bench/result.ts';
import { compare, median } from '../../bench/rounds.ts';

function rounds(slow: number, ratio = 0.9): readonly number[] {
  return Array.from({ length: 9 }, (_, round) => (round < slow ? ratio : 1));
}

test('a build is slower when the median and seven of nine rounds are', (t) => {
  t.equal(isSlower(rounds(9)), true);
  t.equal(isSlower(rounds(7)), true);
  t.equal(isSlower(rounds(6)), false, 'the median alone');
  t.equal(isSlower(rounds(4)), false);
  t.equal(isSlower(rounds(9, 0.95)), false, 'a ratio at the limit is not slower');
  t.equal(isSlower([Number.NaN, ...rounds(8).slice(1)]), true, 'a rate that is missing is slower');
  t.equal(isSlower([0.9, 0.9]), true);
  t.equal(isSlower([0.9, 1]), false);
  t.equal(slowerRounds(rounds(3)), 3);
  t.end();
});

test('a comparison of builds fails by its rounds, and other figures by their bound', (t) => {
  const figure: Result = { measure: 'a', unit: '/s', value: 10, ratio: 0.94, floor: 0.95 };
  t.equal(isMet(figure), false);
  t.equal(isMet({ ...figure, bound: 'rounds at least', ratios: rounds(6) }), true);
  t.equal(isMet({ ...figure, bound: 'rounds at least', ratios: rounds(7) }), false);
  t.equal(isMet({ ...figure, bound: 'rounds at least' }), false, 'no round');
  t.equal(isMet({ ...figure, bound: 'value at most', floor: 10 }), true);
  t.equal(isMet({ ...figure, bound: 'value at most', floor: 9 }), false);
  t.equal(isMet({ ...figure, bound: 'value at least', floor: 10 }), true);
  t.equal(isMet({ ...figure, bound: 'value at least', floor: 11 }), false);
  t.equal(isMet({ ...figure, value: Number.NaN, bound: 'value at most' }), false);
  t.end();
});

test('baseline and subject run by turns, and the warm-up does not count', async (t) => {
  const baseline = [1, 10, 20, 40];
  const subject = [100, 20, 10, 20];
  const order: string[] = [];
  const next = (from: number[], name: string) => async (): Promise<number> => {
    order.push(name);
    return Promise.resolve(from.shift() ?? Number.NaN);
  };
  t.strictSame(await compare(3, next(baseline, 'b'), next(subject, 's')), {
    value: 20,
    baseline: 20,
    ratio: 0.5,
    spread: [10, 20],
  });
  t.equal(order.join(''), 'bsbsbsbs');
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 2, 3]), 2.5);
  t.ok(Number.isNaN(median([])));
});
