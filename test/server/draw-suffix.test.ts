import { test } from 'tap';

import { drawSuffix } from '../../src/server/draw-suffix.ts';

const draws = 20_000;

test('a suffix has five characters of the alphabet, each as likely as the others', (t) => {
  const counts = new Map<string, number>();
  for (let drawn = 0; drawn < draws; drawn += 1) {
    const suffix = drawSuffix();
    if (!/^[a-z0-9]{5}$/u.test(suffix)) t.fail(`unexpected suffix ${suffix}`);
    for (const character of suffix) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  t.equal(counts.size, 36);
  const expected = (draws * 5) / 36;
  // Ten standard deviations: a fair draw never differs so much, and one that favours some characters does.
  const differenceMax = 10 * Math.sqrt(expected);
  t.strictSame(
    [...counts].filter(([, count]) => Math.abs(count - expected) > differenceMax),
    [],
  );
  t.end();
});

test('suffixes differ', (t) => {
  const suffixes = new Set(Array.from({ length: 1_000 }, () => drawSuffix()));
  t.ok(suffixes.size > 990);
  t.end();
});
